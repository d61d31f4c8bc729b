// SPDX-License-Identifier: GPL-2.0-or-later
// Subnet Administration: the header behind RMPP's, its attributes and the codes they share. IBTA Vol 1, 15.2.
#pragma once

#include "protocol/wire/mad.hpp"

namespace ipoib::wire {

/// Attributes of subnet administration. IBTA Vol 1, 15.2.5, table "Subnet Administration Attributes".
namespace attribute {
inline constexpr std::uint16_t node_record = 0x0011, port_info_record = 0x0012, sl_to_vl_mapping_table_record = 0x0013,
                               switch_info_record = 0x0014, linear_forwarding_table_record = 0x0015,
                               random_forwarding_table_record = 0x0016, multicast_forwarding_table_record = 0x0017,
                               sm_info_record = 0x0018, link_record = 0x0020, guid_info_record = 0x0030,
                               service_record = 0x0031, p_key_table_record = 0x0033, path_record = 0x0035,
                               vl_arbitration_table_record = 0x0036, mc_member_record = 0x0038, trace_record = 0x0039,
                               multi_path_record = 0x003a, service_association_record = 0x003b,
                               inform_info_record = 0x00f3;
}  // namespace attribute
inline constexpr std::array<Named, 22> sa_attribute_names{
    {{attribute::class_port_info, "ClassPortInfo"},
     {attribute::notice, "Notice"},
     {attribute::inform_info, "InformInfo"},
     {attribute::node_record, "NodeRecord"},
     {attribute::port_info_record, "PortInfoRecord"},
     {attribute::sl_to_vl_mapping_table_record, "SLtoVLMappingTableRecord"},
     {attribute::switch_info_record, "SwitchInfoRecord"},
     {attribute::linear_forwarding_table_record, "LinearForwardingTableRecord"},
     {attribute::random_forwarding_table_record, "RandomForwardingTableRecord"},
     {attribute::multicast_forwarding_table_record, "MulticastForwardingTableRecord"},
     {attribute::sm_info_record, "SMInfoRecord"},
     {attribute::link_record, "LinkRecord"},
     {attribute::guid_info_record, "GuidInfoRecord"},
     {attribute::service_record, "ServiceRecord"},
     {attribute::p_key_table_record, "P_KeyTableRecord"},
     {attribute::path_record, "PathRecord"},
     {attribute::vl_arbitration_table_record, "VLArbitrationTableRecord"},
     {attribute::mc_member_record, "MCMemberRecord"},
     {attribute::trace_record, "TraceRecord"},
     {attribute::multi_path_record, "MultiPathRecord"},
     {attribute::service_association_record, "ServiceAssociationRecord"},
     {attribute::inform_info_record, "InformInfoRecord"}}};

/// Status that the SA answers with, beside those of every class. IBTA Vol 1, 15.2.3, table "SA MAD Status".
namespace sa_status {
inline constexpr std::uint16_t no_resources = 0x0100, invalid_request = 0x0200, no_records = 0x0300,
                               too_many_records = 0x0400, invalid_gid = 0x0500, insufficient_components = 0x0600,
                               denied = 0x0700, priority_suggested = 0x0800;
}  // namespace sa_status
inline constexpr std::array<Named, 15> sa_status_names{
    {mad_status_names[0],
     mad_status_names[1],
     mad_status_names[2],
     mad_status_names[3],
     mad_status_names[4],
     mad_status_names[5],
     mad_status_names[6],
     {sa_status::no_resources, "ERR_NO_RESOURCES"},
     {sa_status::invalid_request, "ERR_REQ_INVALID"},
     {sa_status::no_records, "ERR_NO_RECORDS"},
     {sa_status::too_many_records, "ERR_TOO_MANY_RECORDS"},
     {sa_status::invalid_gid, "ERR_REQ_INVALID_GID"},
     {sa_status::insufficient_components, "ERR_REQ_INSUFFICIENT_COMPONENTS"},
     {sa_status::denied, "ERR_REQ_DENIED"},
     {sa_status::priority_suggested, "ERR_PRIORITY_SUGGESTED"}}};

/// How a record's MTU, Rate or PacketLifeTime is to be understood in a request. IBTA Vol 1, 15.2.5.16.
namespace selector {
inline constexpr std::uint8_t greater = 0, less = 1, exactly = 2, largest = 3;
}  // namespace selector
inline constexpr std::array<Named, 4> selector_names{{{selector::greater, "greater than"},
                                                      {selector::less, "less than"},
                                                      {selector::exactly, "exactly"},
                                                      {selector::largest, "largest available"}}};

/// Packet lifetimes are smallest when best: their selector's last value differs.
inline constexpr std::array<Named, 4> lifetime_selector_names{{{selector::greater, "greater than"},
                                                               {selector::less, "less than"},
                                                               {selector::exactly, "exactly"},
                                                               {selector::largest, "smallest available"}}};

/// MTU codes, in octets of payload. IBTA Vol 1, 14.2.5.6.
inline constexpr std::array<Named, 5> mtu_names{{{1, "256"}, {2, "512"}, {3, "1024"}, {4, "2048"}, {5, "4096"}}};

/// Static rate codes. IBTA Vol 1, 15.2.5.16; those above 10 from release 1.3 on.
inline constexpr std::array<Named, 24> rate_names{
    {{2, "2.5 Gb/s"},  {3, "10 Gb/s"},   {4, "30 Gb/s"},   {5, "5 Gb/s"},    {6, "20 Gb/s"},    {7, "40 Gb/s"},
     {8, "60 Gb/s"},   {9, "80 Gb/s"},   {10, "120 Gb/s"}, {11, "14 Gb/s"},  {12, "56 Gb/s"},   {13, "112 Gb/s"},
     {14, "168 Gb/s"}, {15, "25 Gb/s"},  {16, "100 Gb/s"}, {17, "200 Gb/s"}, {18, "300 Gb/s"},  {19, "28 Gb/s"},
     {20, "50 Gb/s"},  {21, "400 Gb/s"}, {22, "600 Gb/s"}, {23, "800 Gb/s"}, {24, "1200 Gb/s"}, {25, "1600 Gb/s"}}};

/// SA header, between the RMPP header and the record. IBTA Vol 1, 15.2.1.1.
struct SaHeader {
    static constexpr std::string_view key = "sa", name = "SA", title = "Subnet Administration header";
    static constexpr std::size_t size = 20;
    /// Octets of a MAD before the SA's data, and of that data. IBTA Vol 1, 15.2.1.1.
    static constexpr std::size_t data_offset = 56, data_size = mad_size - data_offset;
    /// AttributeOffset counts in units of this many octets.
    static constexpr std::size_t offset_unit = 8;
    template <class T>
    using F = Field<SaHeader, T>;

    static constexpr F<std::uint64_t> sm_key{"SM_Key", octet(0), 64, Show::hex, "Zero unless the sender is trusted"};
    static constexpr F<std::uint16_t> attribute_offset{"AttributeOffset", octet(8), 16, Show::dec,
                                                       "From record to record, in 8-octet units"};
    static constexpr F<std::uint16_t> reserved{"Reserved", octet(10), 16, Show::reserved, ""};
    static constexpr F<std::uint64_t> component_mask{"ComponentMask", octet(12), 64, Show::hex,
                                                     "Which components of the record the request gives"};
    static constexpr auto fields = table(sm_key, attribute_offset, reserved, component_mask);
};
static_assert(tiles(SaHeader::fields, SaHeader::size));

}  // namespace ipoib::wire
