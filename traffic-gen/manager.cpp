// SPDX-License-Identifier: GPL-2.0-or-later
// Attributes of ports as a manager sets them.
#include "traffic-gen/manager.hpp"

#include <algorithm>

namespace ipoib::traffic {
using namespace wire;

Bytes<PortInfo> port_info_of(const build::Node& host, const build::Node& manager, const build::Link& link) {
    constexpr std::uint8_t width_4x = 2, link_up = 5;
    Bytes<PortInfo> info;
    return info.set(PortInfo::gid_prefix, host.gid.prefix())
        .set(PortInfo::lid, host.lid)
        .set(PortInfo::master_sm_lid, manager.lid)
        .set(PortInfo::local_port_num, 1)
        .set(PortInfo::link_width_active, width_4x)
        .set(PortInfo::link_speed_active, 1)
        .set(PortInfo::port_state, PortState::active)
        .set(PortInfo::port_physical_state, link_up)
        .set(PortInfo::neighbor_mtu, link.mtu)
        .set(PortInfo::mtu_cap, link.mtu);
}

Bytes<NodeInfo> node_info_of(const build::Node& host, std::uint16_t partition_cap) {
    const auto guid = host.gid.interface_id();
    return Bytes<NodeInfo>{}
        .set(NodeInfo::base_version, 1)
        .set(NodeInfo::class_version, 1)
        .set(NodeInfo::node_type, NodeInfo::channel_adapter)
        .set(NodeInfo::num_ports, 1)
        .set(NodeInfo::system_image_guid, guid)
        .set(NodeInfo::node_guid, guid)
        .set(NodeInfo::port_guid, guid)
        .set(NodeInfo::partition_cap, partition_cap)
        .set(NodeInfo::local_port_num, 1);
}

void pass(Stage& stage, Time time) {
    const auto& manager = stage.scene().administrator();
    const auto& port = stage.scene().net().host(0);
    stage.pass(time, [&] {
        return build::smp(
            manager, port,
            {.method = Method::get, .attribute = smp_attribute::port_info, .transaction = stage.transaction()},
            Bytes<PortInfo>{});
    });
}

OctetArray<64> guid_block(const build::Node& port, std::span<const build::Node> functions) {
    constexpr std::size_t entry = 8, entries = 8;
    OctetArray<64> block{};
    const auto write = [&](std::size_t index, const build::Node& node) {
        write_bits(block.data() + entry * index, octet(0), 8 * entry, node.gid.interface_id());
    };
    write(0, port);
    for (std::size_t i = 0; i < std::min(functions.size(), entries - 1); ++i) write(i + 1, functions[i]);
    return block;
}

}  // namespace ipoib::traffic
