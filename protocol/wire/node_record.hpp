// SPDX-License-Identifier: GPL-2.0-or-later
// NodeInfo and the SA's NodeRecord, which holds it. IBTA Vol 1, 14.2.5.3 and 15.2.5.2.
#pragma once

#include "protocol/wire/sa.hpp"

namespace ipoib::wire {

inline constexpr std::array<Named, 3> node_type_names{{{1, "channel adapter"}, {2, "switch"}, {3, "router"}}};

/// NodeInfo. IBTA Vol 1, 14.2.5.3.
struct NodeInfo {
    static constexpr std::string_view key = "node_info", name = "NodeInfo", title = "Node Info";
    static constexpr std::size_t size = 40;
    static constexpr std::uint8_t channel_adapter = 1, switch_node = 2, router = 3;
    template <class T>
    using F = Field<NodeInfo, T>;

    static constexpr F<std::uint8_t> base_version{"BaseVersion", octet(0), 8, Show::dec, "MAD base format"};
    static constexpr F<std::uint8_t> class_version{"ClassVersion", octet(1), 8, Show::dec, "Of subnet management"};
    static constexpr F<std::uint8_t> node_type{"NodeType", octet(2), 8, Show::dec, "", node_type_names};
    static constexpr F<std::uint8_t> num_ports{"NumPorts", octet(3), 8, Show::dec, "Physical ports"};
    static constexpr F<std::uint64_t> system_image_guid{"SystemImageGUID", octet(4), 64, Show::hex, ""};
    static constexpr F<std::uint64_t> node_guid{"NodeGUID", octet(12), 64, Show::hex, ""};
    static constexpr F<std::uint64_t> port_guid{"PortGUID", octet(20), 64, Show::hex, "Of the port that answers"};
    static constexpr F<std::uint16_t> partition_cap{"PartitionCap", octet(28), 16, Show::dec, "P_Key table entries"};
    static constexpr F<std::uint16_t> device_id{"DeviceID", octet(30), 16, Show::hex, ""};
    static constexpr F<std::uint32_t> revision{"Revision", octet(32), 32, Show::hex, ""};
    static constexpr F<std::uint8_t> local_port_num{"LocalPortNum", octet(36), 8, Show::dec, "Where the MAD came in"};
    static constexpr F<std::uint32_t> vendor_id{"VendorID", octet(37), 24, Show::hex, "IEEE company id"};
    static constexpr auto fields =
        table(base_version, class_version, node_type, num_ports, system_image_guid, node_guid, port_guid, partition_cap,
              device_id, revision, local_port_num, vendor_id);
};
static_assert(tiles(NodeInfo::fields, NodeInfo::size));

/// NodeRecord without the rows of the NodeInfo in it. IBTA Vol 1, 15.2.5.2.
struct NodeRecord {
    static constexpr std::string_view key = "node_record", name = "NodeRecord", title = "Node Record";
    static constexpr std::size_t size = 108;
    template <class T>
    using F = Field<NodeRecord, T>;

    static constexpr F<std::uint16_t> lid{"LID", octet(0), 16, Show::hex, "Of the port"};
    static constexpr F<std::uint16_t> reserved{"Reserved", octet(2), 16, Show::reserved, ""};
    static constexpr F<OctetArray<NodeInfo::size>> node_info{"NodeInfo", octet(4), 320, Show::octets, ""};
    static constexpr F<OctetArray<64>> node_description{"NodeDescription", octet(44), 512, Show::text,
                                                        "UTF-8, not terminated when it is full"};
    static constexpr auto fields = table(lid, reserved, node_info, node_description);

    /// Bits of SA.ComponentMask for this record.
    struct component {
        static constexpr std::uint64_t lid = 1u << 0, base_version = 1u << 2, class_version = 1u << 3,
                                       node_type = 1u << 4, num_ports = 1u << 5, system_image_guid = 1u << 6,
                                       node_guid = 1u << 7, port_guid = 1u << 8, partition_cap = 1u << 9,
                                       device_id = 1u << 10, revision = 1u << 11, local_port_num = 1u << 12,
                                       vendor_id = 1u << 13, node_description = 1u << 14;
    };
};
static_assert(tiles(NodeRecord::fields, NodeRecord::size));

/// The NodeInfo inside a NodeRecord.
constexpr View<NodeInfo> node_info(const View<NodeRecord>& record) noexcept {
    return record ? View<NodeInfo>::at(record.octets().subspan(NodeRecord::node_info.at.bit / 8)) : View<NodeInfo>{};
}

}  // namespace ipoib::wire
