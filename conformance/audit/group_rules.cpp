// SPDX-License-Identifier: GPL-2.0-or-later
// Rules on each group by itself, and on the broadcast groups. RFC 4391, 4, 4.1, 5 and 10; RFC 4392, 1.2 and 1.3.
#include "conformance/audit/common.hpp"

#include <algorithm>

namespace ipoib::audit {
namespace {

constexpr std::uint8_t blank_scope = 0, default_mtu = 4;
constexpr std::uint16_t first_mlid = 0xc000, last_mlid = 0xfffe;

bool is_ipv4(const Item& item) { return mgid(item)[Mgid::signature] == ipv4_signature; }
/// How many MLIDs there are from the first to the group's.
std::size_t mlids_up_to(const Item& item) {
    const auto mlid = item.parameters().mlid;
    return mlid < first_mlid ? 0 : static_cast<std::size_t>(mlid - first_mlid) + 1;
}
bool has_swapped_signature(const Item& item) { return is_swapped_signature(mgid(item)[Mgid::signature]); }

constexpr Rule rules_of_groups[] = {
    {.id = "RULE-RFC4391-4-02-audit",
     .checks = {&rfc4391::mgid_t_flag},
     .title = "the MGID of an IP group has its T flag set",
     .about = About::ip_group,
     .evidence = Evidence::one_record,
     .holds = [](const Item& item) { return mgid(item)[Mgid::transient]; },
     .field = "MGID",
     .expected = [](const Item&) { return std::string("T flag 1"); },
     .actual = [](const Item&) { return std::string("T flag 0"); }},
    {.id = "RULE-RFC4391-4-05-audit",
     .checks = {&rfc4391::mgid_pkey},
     .title = "the MGID of an IP group holds the P_Key of its record, with the full-membership bit",
     .about = About::ip_group,
     .evidence = Evidence::one_record,
     .holds = [](const Item& item) { return mgid(item)[Mgid::p_key] == p_key_of_link(item); },
     .field = "MGID",
     .expected = [](const Item& item) { return "P_Key " + p_key_text(p_key_of_link(item)); },
     .actual = [](const Item& item) { return "P_Key " + text_of_mgid_p_key(item); }},
    {.id = "RULE-RFC4391-4-08-audit",
     .checks = {&rfc4391::mgid_ipv4_padding},
     .title = "the MGID of an IPv4 group has 0 above the low 28 bits",
     .about = About::other,
     .evidence = Evidence::one_record,
     .applies = is_ipv4,
     .holds = [](const Item& item) { return ipv4_group_of(item.parameters().mgid).has_value(); },
     .field = "MGID",
     .expected = [](const Item&) { return std::string("0 in the bits above the low 28"); },
     .actual =
         [](const Item& item) {
             return "group ID " + hex(mgid(item)[Mgid::group_high], 4) + ':' + hex(mgid(item)[Mgid::group_low], 16);
         }},
    {.id = "RULE-RFC4391-4-10-audit",
     .checks = {&rfc4391::broadcast_gid_format},
     .title = "a P_Key has one broadcast group",
     .about = About::broadcast,
     .evidence = Evidence::contradiction,
     .weight = Strength::should,
     .holds = [](const Item& item) { return item.broadcasts.size() == 1; },
     .field = "MGID",
     .expected = [](const Item& item) { return "no other broadcast group with P_Key " + text_of_mgid_p_key(item); },
     .actual =
         [](const Item& item) {
             std::string others;
             for (const auto* one : item.broadcasts)
                 if (one != &item.group) others += (others.empty() ? "also " : ", ") + text(one->parameters.mgid);
             return others + ": ports on one do not hear those on the other";
         }},
    {.id = "RULE-RFC4391-4-12-audit",
     .checks = {&rfc4391::network_byte_order},
     .title = "no MGID holds a signature of IPoIB in the wrong byte order",
     .about = About::group,
     .evidence = Evidence::one_record,
     .applies =
         [](const Item& item) { return has_ipoib_signature(item.parameters().mgid) || has_swapped_signature(item); },
     .holds = [](const Item& item) { return !has_swapped_signature(item); },
     .field = "MGID",
     .expected = [](const Item&) { return std::string("signature 0x401b or 0x601b"); },
     .actual = [](const Item& item) { return "signature " + hex(mgid(item)[Mgid::signature], 4); }},
    {.id = "RULE-RFC4391-4.1-01-audit",
     .checks = {&rfc4391::broadcast_group_full_pkey},
     .title = "the broadcast group has a full-membership P_Key",
     .about = About::broadcast,
     .evidence = Evidence::one_record,
     .knows = told(Parameter::p_key),
     .holds =
         [](const Item& item) {
             return is_full_member(item.parameters().p_key) && is_full_member(mgid(item)[Mgid::p_key]);
         },
     .field = "P_Key",
     .expected = [](const Item&) { return std::string("the high bit set, in record and MGID"); },
     .actual =
         [](const Item& item) { return p_key_text(item.parameters().p_key) + ", MGID " + text_of_mgid_p_key(item); }},
    {.id = "RULE-RFC4391-4.1-02-audit",
     .checks = {&rfc4391::broadcast_group_controlled_qkey},
     .title = "the broadcast group has a controlled Q_Key",
     .about = About::broadcast,
     .evidence = Evidence::one_record,
     .knows = told(Parameter::q_key),
     .holds = [](const Item& item) { return (item.parameters().q_key >> 31) != 0; },
     .field = "Q_Key",
     .expected = [](const Item&) { return std::string("the high bit set"); },
     .actual = of_group<Parameter::q_key>},
    {.id = "RULE-RFC4391-4.1-07-audit",
     .checks = {&rfc4391::broadcast_gid_default_scope},
     .title = "the broadcast-GID has local-subnet scope",
     .about = About::broadcast,
     .evidence = Evidence::one_record,
     .holds = [](const Item& item) { return scope_of(item.group) == local_scope; },
     .field = "MGID",
     .expected = [](const Item&) { return scope_text(local_scope) + ", unless the link spans IB subnets"; },
     .actual = [](const Item& item) { return scope_text(scope_of(item.group)); }},
    {.id = "RULE-RFC4391-5-01-audit",
     .checks = {&rfc4391::broadcast_group_exists},
     .title = "where there are IP groups there is a broadcast group with their P_Key",
     .about = About::other,
     .evidence = Evidence::whole_table,
     .needs_all = true,
     .holds = [](const Item& item) { return !item.broadcasts.empty(); },
     .field = "MGID",
     .expected = [](const Item& item) { return "a broadcast group with P_Key " + text_of_mgid_p_key(item); },
     .actual = [](const Item&) { return std::string("none"); }},
    {.id = "RULE-RFC4391-7-04-audit",
     .checks = {&rfc4391::default_mtu_2044},
     .title = "the broadcast group's MTU carries IP packets of 2044 octets",
     .about = About::broadcast,
     .evidence = Evidence::one_record,
     .knows = told(Parameter::mtu),
     .weight = Strength::should,
     .holds = [](const Item& item) { return item.parameters().mtu >= default_mtu; },
     .field = "MTU",
     .expected =
         [](const Item&) { return "at least " + mtu_text(default_mtu) + ", unless it was configured otherwise"; },
     .actual = mtu_of_group},
    {.id = "RULE-RFC4391-10-21-audit",
     .checks = {&rfc4391::last_full_member_leaves},
     .title = "a group has a FullMember, or a SendOnlyFullMember of IBA 1.3",
     .about = About::group,
     .evidence = Evidence::whole_table,
     .needs_members = true,
     .notes =
         [](const Item& item) {
             return std::ranges::none_of(item.group.members, [](const StatedMember& member) {
                 return (member.join_state & (join_state::full_member | join_state::send_only_full_member)) != 0;
             });
         },
     .note = "nobody is a FullMember: an SA may let it end, unless it is configured"},
    // Where an SA gives the first that is free, an MLID tells how many were in use when the group began.
    {.id = "RULE-RFC4391-10-21-mlid-audit",
     .checks = {&rfc4391::last_full_member_leaves},
     .title = "MLIDs of groups that ended are used again",
     .about = About::group,
     .evidence = Evidence::whole_table,
     .knows = told(Parameter::mlid),
     .needs_all = true,
     .notes =
         [](const Item& item) {
             constexpr std::size_t usual = 16;
             return mlids_up_to(item) > 2 * item.groups + usual;
         },
     .note = "its MLID is far beyond the number of groups: MLIDs that no group has may be in use"},
    {.id = "RULE-UDMC-10-room-audit",
     .checks = {&udmc::switch_multicast_capability},
     .title = "switches have room for more groups",
     .about = About::group,
     .evidence = Evidence::one_record,
     .knows = told(Parameter::mlid),
     .applies = [](const Item& item) { return item.room != 0; },
     .notes = [](const Item& item) { return mlids_up_to(item) * 8 >= std::size_t{item.room} * 7; },
     .note = "its MLID is among the last that a switch has room for: soon no group can be created"},
    {.id = "RULE-RFC4392-1.2.1.2-01-audit",
     .checks = {&rfc4392::mgid_reserved_flags},
     .title = "the three flags above T are 0 in the MGID of an IP group",
     .about = About::ip_group,
     .evidence = Evidence::one_record,
     .holds = [](const Item& item) { return mgid(item)[Mgid::reserved] == 0; },
     .field = "MGID",
     .expected = [](const Item&) { return std::string("flags 0 above T"); },
     .actual = [](const Item& item) { return "flags " + hex(mgid(item)[Mgid::reserved], 1); }},
    {.id = "RULE-RFC4392-1.2.1.2-02-audit",
     .checks = {&rfc4392::mgid_scope_values},
     .title = "the scope of an MGID is not a reserved one",
     .about = About::ip_group,
     .evidence = Evidence::one_record,
     .holds = [](const Item& item) { return !is_reserved_scope(scope_of(item.group)); },
     .notes = [](const Item& item) { return !is_assigned_scope(scope_of(item.group)); },
     .note = "a scope that has no meaning assigned",
     .field = "MGID",
     .expected = [](const Item&) { return std::string("scope 2, 5, 8 or 0xe"); },
     .actual = [](const Item& item) { return scope_text(scope_of(item.group)); }},
    {.id = "RULE-RFC4392-1.2.1.2-03-audit",
     .checks = {&rfc4392::mgid_identifies_one_group},
     .title = "all records of an MGID have one MLID and one set of parameters",
     .about = About::ip_group,
     .evidence = Evidence::contradiction,
     .holds = [](const Item& item) { return item.group.contradictions.empty(); },
     .field = "MCMemberRecord",
     .expected = [](const Item&) { return std::string("the same in each record"); },
     .actual = [](const Item& item) { return item.group.contradictions.front(); }},
    {.id = "RULE-RFC4392-1.2.1.2-03-mlid-audit",
     .checks = {&rfc4392::mgid_identifies_one_group},
     .title = "a group has an MLID of the multicast range",
     .about = About::ip_group,
     .evidence = Evidence::one_record,
     .knows = told(Parameter::mlid),
     .holds =
         [](const Item& item) { return item.parameters().mlid >= first_mlid && item.parameters().mlid <= last_mlid; },
     .field = "MLID",
     .expected = [](const Item&) { return std::string("0xc000 to 0xfffe"); },
     .actual = of_group<Parameter::mlid>},
    {.id = "RULE-RFC4392-1.3.1.1-04-audit",
     .checks = {&rfc4392::join_state_union},
     .title = "all that a port is in a group is in one record",
     .about = About::group,
     .evidence = Evidence::contradiction,
     .applies = [](const Item& item) { return !item.group.members.empty(); },
     .holds = [](const Item& item) { return item.group.member_contradictions.empty(); },
     .field = "MCMemberRecord",
     .expected = [](const Item&) { return std::string("one for each member"); },
     .actual = [](const Item& item) { return item.group.member_contradictions.front(); }},
    {.id = "RULE-RFC4392-1.3.1-01-audit",
     .checks = {&rfc4392::record_scope},
     .title = "the Scope of a record is that of its MGID",
     .about = About::ip_group,
     .evidence = Evidence::one_record,
     .knows = told(Parameter::scope),
     .applies = [](const Item& item) { return item.parameters().scope != blank_scope; },
     .holds = [](const Item& item) { return item.parameters().scope == scope_of(item.group); },
     .field = "Scope",
     .expected = [](const Item& item) { return scope_text(scope_of(item.group)) + ", that of the MGID"; },
     .actual = of_group<Parameter::scope>},
};
static_assert(are_declared(rules_of_groups));

}  // namespace

std::span<const Rule> group_rules() { return rules_of_groups; }

}  // namespace ipoib::audit
