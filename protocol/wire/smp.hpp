// SPDX-License-Identifier: GPL-2.0-or-later
// Subnet Management Packets, LID-routed and directed-route. IBTA Vol 1, 14.2.
#pragma once

#include "protocol/wire/mad.hpp"

namespace ipoib::wire {

/// Attributes of subnet management. IBTA Vol 1, 14.2.5.
namespace smp_attribute {
inline constexpr std::uint16_t notice = 0x0002, node_description = 0x0010, node_info = 0x0011, switch_info = 0x0012,
                               guid_info = 0x0014, port_info = 0x0015, p_key_table = 0x0016,
                               sl_to_vl_mapping_table = 0x0017, vl_arbitration_table = 0x0018,
                               linear_forwarding_table = 0x0019, random_forwarding_table = 0x001a,
                               multicast_forwarding_table = 0x001b, sm_info = 0x0020, vendor_diag = 0x0030,
                               led_info = 0x0031;
}  // namespace smp_attribute
inline constexpr std::array<Named, 15> smp_attribute_names{
    {{smp_attribute::notice, "Notice"},
     {smp_attribute::node_description, "NodeDescription"},
     {smp_attribute::node_info, "NodeInfo"},
     {smp_attribute::switch_info, "SwitchInfo"},
     {smp_attribute::guid_info, "GUIDInfo"},
     {smp_attribute::port_info, "PortInfo"},
     {smp_attribute::p_key_table, "P_KeyTable"},
     {smp_attribute::sl_to_vl_mapping_table, "SLtoVLMappingTable"},
     {smp_attribute::vl_arbitration_table, "VLArbitrationTable"},
     {smp_attribute::linear_forwarding_table, "LinearForwardingTable"},
     {smp_attribute::random_forwarding_table, "RandomForwardingTable"},
     {smp_attribute::multicast_forwarding_table, "MulticastForwardingTable"},
     {smp_attribute::sm_info, "SMInfo"},
     {smp_attribute::vendor_diag, "VendorDiag"},
     {smp_attribute::led_info, "LedInfo"}}};

/// LID-routed SMP, class 0x01. IBTA Vol 1, 14.2.1.1.
struct LidSmp {
    static constexpr std::string_view key = "smp", name = "SMP", title = "Subnet Management Packet, LID-routed";
    static constexpr std::size_t size = mad_size;
    template <class T>
    using F = Field<LidSmp, T>;

    static constexpr F<std::uint8_t> base_version{"BaseVersion", octet(0), 8, Show::dec, "MAD base format, 1"};
    static constexpr F<MgmtClass> mgmt_class{"MgmtClass", octet(1), 8, Show::hex, "Management class", mgmt_class_names};
    static constexpr F<std::uint8_t> class_version{"ClassVersion", octet(2), 8, Show::dec, "1"};
    static constexpr F<Method> method{"Method", octet(3), 8, Show::hex, "R bit and method", method_names};
    static constexpr F<std::uint16_t> status{"Status", octet(4), 16, Show::hex, "Zero in requests", mad_status_names};
    static constexpr F<std::uint16_t> class_specific{"ClassSpecific", octet(6), 16, Show::reserved, ""};
    static constexpr F<std::uint64_t> transaction_id{"TransactionID", octet(8), 64, Show::hex, ""};
    static constexpr F<std::uint16_t> attribute_id{"AttributeID", octet(16),   16,
                                                   Show::hex,     "Attribute", smp_attribute_names};
    static constexpr F<std::uint16_t> reserved16{"Reserved16", octet(18), 16, Show::reserved, ""};
    static constexpr F<std::uint32_t> attribute_modifier{"AttributeModifier", octet(20), 32, Show::hex, ""};
    static constexpr F<std::uint64_t> m_key{"M_Key", octet(24), 64, Show::hex, "Management key"};
    static constexpr F<OctetArray<32>> reserved256{"Reserved256", octet(32), 256, Show::reserved, ""};
    static constexpr F<OctetArray<64>> data{"SMPData", octet(64), 512, Show::octets, "The attribute"};
    static constexpr F<OctetArray<128>> reserved1024{"Reserved1024", octet(128), 1024, Show::reserved, ""};
    static constexpr auto fields =
        table(base_version, mgmt_class, class_version, method, status, class_specific, transaction_id, attribute_id,
              reserved16, attribute_modifier, m_key, reserved256, data, reserved1024);
};
static_assert(tiles(LidSmp::fields, LidSmp::size));

/// Directed-route SMP, class 0x81. IBTA Vol 1, 14.2.1.2.
struct DirectedSmp {
    static constexpr std::string_view key = "dr_smp", name = "DR SMP",
                                      title = "Subnet Management Packet, directed route";
    static constexpr std::size_t size = mad_size;
    /// DrSLID and DrDLID of a path that is directed from end to end. IBTA Vol 1, 14.2.1.2.
    static constexpr std::uint16_t permissive_lid = 0xffff;
    /// The most hops that the two paths hold; their first octet is not used. IBTA Vol 1, 14.2.2.
    static constexpr std::uint8_t max_hops = 63;
    template <class T>
    using F = Field<DirectedSmp, T>;

    static constexpr F<std::uint8_t> base_version{"BaseVersion", octet(0), 8, Show::dec, "MAD base format, 1"};
    static constexpr F<MgmtClass> mgmt_class{"MgmtClass", octet(1), 8, Show::hex, "Management class", mgmt_class_names};
    static constexpr F<std::uint8_t> class_version{"ClassVersion", octet(2), 8, Show::dec, "1"};
    static constexpr F<Method> method{"Method", octet(3), 8, Show::hex, "R bit and method", method_names};
    static constexpr F<bool> is_returning{"D", octet(4), 1, Show::flag, "Direction: on its way back"};
    static constexpr F<std::uint16_t> status{"Status",  octet(4, 1),        15,
                                             Show::hex, "Zero in requests", mad_status_names};
    static constexpr F<std::uint8_t> hop_pointer{"HopPointer", octet(6), 8, Show::dec, "Where it is on its path"};
    static constexpr F<std::uint8_t> hop_count{"HopCount", octet(7), 8, Show::dec, "Hops of the directed route"};
    static constexpr F<std::uint64_t> transaction_id{"TransactionID", octet(8), 64, Show::hex, ""};
    static constexpr F<std::uint16_t> attribute_id{"AttributeID", octet(16),   16,
                                                   Show::hex,     "Attribute", smp_attribute_names};
    static constexpr F<std::uint16_t> reserved16{"Reserved16", octet(18), 16, Show::reserved, ""};
    static constexpr F<std::uint32_t> attribute_modifier{"AttributeModifier", octet(20), 32, Show::hex, ""};
    static constexpr F<std::uint64_t> m_key{"M_Key", octet(24), 64, Show::hex, "Management key"};
    static constexpr F<std::uint16_t> dr_slid{"DrSLID", octet(32), 16, Show::hex, "LID where the route begins"};
    static constexpr F<std::uint16_t> dr_dlid{"DrDLID", octet(34), 16, Show::hex, "LID where the route ends"};
    static constexpr F<OctetArray<28>> reserved224{"Reserved224", octet(36), 224, Show::reserved, ""};
    static constexpr F<OctetArray<64>> data{"SMPData", octet(64), 512, Show::octets, "The attribute"};
    static constexpr F<OctetArray<64>> initial_path{"InitialPath", octet(128), 512, Show::octets, "Ports out"};
    static constexpr F<OctetArray<64>> return_path{"ReturnPath", octet(192), 512, Show::octets, "Ports in"};
    static constexpr auto fields =
        table(base_version, mgmt_class, class_version, method, is_returning, status, hop_pointer, hop_count,
              transaction_id, attribute_id, reserved16, attribute_modifier, m_key, dr_slid, dr_dlid, reserved224, data,
              initial_path, return_path);
};
static_assert(tiles(DirectedSmp::fields, DirectedSmp::size));

/// The attribute that an SMP of either kind carries; absent when the octets end before it does.
template <class Attribute>
constexpr View<Attribute> smp_data(Octets smp) noexcept {
    constexpr std::size_t first = LidSmp::data.at.bit / 8;
    static_assert(LidSmp::data.at.bit == DirectedSmp::data.at.bit && Attribute::size <= LidSmp::data.width / 8);
    return smp.size() < first ? View<Attribute>{} : View<Attribute>::at(smp.subspan(first));
}

}  // namespace ipoib::wire
