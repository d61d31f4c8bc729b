// SPDX-License-Identifier: GPL-2.0-or-later
// Management Datagram: the header that all management packets begin with. IBTA Vol 1, 13.4.
#pragma once

#include "protocol/wire/field.hpp"

namespace ipoib::wire {

/// Octets of every MAD, its header included. IBTA Vol 1, 13.4.2.
inline constexpr std::size_t mad_size = 256;

/// Management classes. IBTA Vol 1, 13.4.4, table "Management Class Values".
enum class MgmtClass : std::uint8_t {
    subn_lid_routed = 0x01,
    subn_adm = 0x03,
    performance = 0x04,
    baseboard = 0x05,
    device = 0x06,
    communication = 0x07,
    snmp = 0x08,
    device_adm = 0x10,
    boot = 0x11,
    bis = 0x12,
    congestion = 0x21,
    subn_directed_route = 0x81,
};
inline constexpr std::array<Named, 12> mgmt_class_names{{{0x01, "Subn (LID routed)"},
                                                         {0x03, "SubnAdm"},
                                                         {0x04, "Perf"},
                                                         {0x05, "BM"},
                                                         {0x06, "DevMgt"},
                                                         {0x07, "ComMgt"},
                                                         {0x08, "SNMP"},
                                                         {0x10, "DevAdm"},
                                                         {0x11, "BootMgt"},
                                                         {0x12, "BIS"},
                                                         {0x21, "CongestionMgt"},
                                                         {0x81, "Subn (directed route)"}}};

/// Methods with the R bit as their most significant bit: a response differs from its request. IBTA Vol 1, 13.4.5 and
/// 15.2.2.
enum class Method : std::uint8_t {
    get = 0x01,
    set = 0x02,
    send = 0x03,
    trap = 0x05,
    report = 0x06,
    trap_repress = 0x07,
    get_table = 0x12,
    get_trace_table = 0x13,
    get_multi = 0x14,
    del = 0x15,
    get_resp = 0x81,
    report_resp = 0x86,
    get_table_resp = 0x92,
    get_multi_resp = 0x94,
    delete_resp = 0x95,
};
inline constexpr std::array<Named, 15> method_names{{{0x01, "Get"},
                                                     {0x02, "Set"},
                                                     {0x03, "Send"},
                                                     {0x05, "Trap"},
                                                     {0x06, "Report"},
                                                     {0x07, "TrapRepress"},
                                                     {0x12, "GetTable"},
                                                     {0x13, "GetTraceTable"},
                                                     {0x14, "GetMulti"},
                                                     {0x15, "Delete"},
                                                     {0x81, "GetResp"},
                                                     {0x86, "ReportResp"},
                                                     {0x92, "GetTableResp"},
                                                     {0x94, "GetMultiResp"},
                                                     {0x95, "DeleteResp"}}};
/// The R bit of a method. IBTA Vol 1, 13.4.5.
inline constexpr std::uint8_t response_bit = 0x80;
/// Whether a MAD ends a transaction that its receiver began: the R bit, or TrapRepress. IBTA Vol 1, 13.4.5.
constexpr bool is_response(Method method) noexcept {
    return (static_cast<unsigned>(method) & response_bit) != 0 || method == Method::trap_repress;
}

/// Status that every class may answer with. The upper octet belongs to the class. IBTA Vol 1, 13.4.7.
namespace mad_status {
inline constexpr std::uint16_t ok = 0, busy = 0x0001, redirect = 0x0002, bad_version = 0x0004,
                               unsupported_method = 0x0008, unsupported_method_attribute = 0x000c,
                               invalid_field = 0x001c;
}  // namespace mad_status
inline constexpr std::array<Named, 7> mad_status_names{
    {{mad_status::ok, "no error"},
     {mad_status::busy, "busy"},
     {mad_status::redirect, "redirection required"},
     {mad_status::bad_version, "class or base version not supported"},
     {mad_status::unsupported_method, "method not supported"},
     {mad_status::unsupported_method_attribute, "method and attribute not supported together"},
     {mad_status::invalid_field, "attribute or modifier has an invalid value"}}};

/// Attributes that mean the same in every class. IBTA Vol 1, 13.4.8. Those of the SA are in sa.hpp, of subnet
/// management in smp.hpp, of communication management in cm.hpp: their numbers overlap.
namespace attribute {
inline constexpr std::uint16_t class_port_info = 0x0001, notice = 0x0002, inform_info = 0x0003;
}  // namespace attribute

/// MAD common header. IBTA Vol 1, 13.4.3.
struct Mad {
    static constexpr std::string_view key = "mad", name = "MAD", title = "Management Datagram";
    static constexpr std::size_t size = 24;
    template <class T>
    using F = Field<Mad, T>;

    static constexpr F<std::uint8_t> base_version{"BaseVersion", octet(0), 8, Show::dec, "MAD base format, 1"};
    static constexpr F<MgmtClass> mgmt_class{"MgmtClass", octet(1), 8, Show::hex, "Management class", mgmt_class_names};
    static constexpr F<std::uint8_t> class_version{"ClassVersion", octet(2), 8, Show::dec, "1; 2 for the SA and CM"};
    static constexpr F<Method> method{"Method", octet(3), 8, Show::hex, "R bit and method", method_names};
    static constexpr F<std::uint16_t> status{"Status", octet(4), 16, Show::hex, "Zero in requests", mad_status_names};
    static constexpr F<std::uint16_t> class_specific{"ClassSpecific", octet(6), 16, Show::hex, "By class"};
    static constexpr F<std::uint64_t> transaction_id{"TransactionID", octet(8), 64, Show::hex,
                                                     "The requester's; a response repeats it"};
    static constexpr F<std::uint16_t> attribute_id{"AttributeID", octet(16), 16, Show::hex, "Attribute, by class"};
    static constexpr F<std::uint16_t> reserved{"Reserved", octet(18), 16, Show::reserved, ""};
    static constexpr F<std::uint32_t> attribute_modifier{"AttributeModifier", octet(20), 32, Show::hex, ""};
    static constexpr auto fields = table(base_version, mgmt_class, class_version, method, status, class_specific,
                                         transaction_id, attribute_id, reserved, attribute_modifier);
};
static_assert(tiles(Mad::fields, Mad::size));

}  // namespace ipoib::wire
