// SPDX-License-Identifier: GPL-2.0-or-later
// Rules on members and their ports. RFC 4391, 4.1 and 5; RFC 4392, 1.2 and 1.3.
#include "conformance/audit/common.hpp"
#include "protocol/state/rates.hpp"

#include <algorithm>

namespace ipoib::audit {
namespace {

std::string rate_text(std::uint8_t code) { return assumptions::text_of(Parameter::rate, code); }

bool is_in(const Item& item, std::uint8_t states) { return item.member && (item.member->join_state & states) != 0; }
bool has_mtu(const Item& item) { return item.port && item.port->mtu != 0 && item.group.tells(Parameter::mtu); }
bool carries_mtu(const Item& item) { return item.parameters().mtu <= item.port->mtu; }
std::string mtu_of_port(const Item& item) {
    return "at most " + mtu_text(item.port->mtu) + ", the NeighborMTU of this member's port";
}
/// P_Keys of a port are sorted.
bool has_p_key(const Item& item, std::uint16_t p_key) { return std::ranges::binary_search(*item.port->p_keys, p_key); }
bool is_full(const Item& item) { return has_p_key(item, p_key_of_link(item)); }
bool is_limited(const Item& item) { return !is_full(item) && has_p_key(item, limited_p_key(p_key_of_link(item))); }

constexpr Rule rules_of_members[] = {
    {.id = "RULE-RFC4391-4.1-03-audit",
     .checks = {&rfc4391::broadcast_group_mtu_bound, &rfc4391::link_mtu},
     .title = "the broadcast group's MTU fits through the links of its members",
     .about = About::member,
     .evidence = Evidence::contradiction,
     .applies = [](const Item& item) { return is_broadcast_gid(item.parameters().mgid) && has_mtu(item); },
     .holds = carries_mtu,
     .field = "MTU",
     .expected = mtu_of_port,
     .actual = mtu_of_group},
    {.id = "RULE-RFC4391-5-02-audit",
     .checks = {&rfc4391::broadcast_full_member_join},
     .title = "a port in an IP group is a FullMember of its link's broadcast group",
     .about = About::node,
     .evidence = Evidence::whole_table,
     .needs_members = true,
     .needs_all = true,
     .holds = [](const Item& item) { return is_in(item, join_state::full_member); },
     .field = "JoinState",
     .expected = [](const Item&) { return std::string("FullMember of the broadcast group"); },
     .actual =
         [](const Item& item) {
             return item.member ? std::string(name_of(join_state_names, item.member->join_state)) : "no member of it";
         }},
    {.id = "RULE-RFC4391-5-05-audit",
     .checks = {&rfc4391::join_needs_group_mtu},
     .title = "a group's MTU fits through the links of its members",
     .about = About::member,
     .evidence = Evidence::contradiction,
     .applies = [](const Item& item) { return !is_broadcast_gid(item.parameters().mgid) && has_mtu(item); },
     .holds = carries_mtu,
     .field = "MTU",
     .expected = mtu_of_port,
     .actual = mtu_of_group},
    {.id = "RULE-RFC4391-5-08-audit",
     .checks = {&rfc4391::pkey_assigned_to_port},
     .title = "a member's port has the P_Key of its group",
     .about = About::member,
     .evidence = Evidence::whole_table,
     .needs_p_keys = true,
     .applies = [](const Item& item) { return item.port && item.port->p_keys; },
     .holds = [](const Item& item) { return is_full(item) || is_limited(item); },
     .field = "P_KeyTable",
     .expected = [](const Item& item) { return "P_Key " + p_key_text(p_key_of_link(item)) + ", or its limited one"; },
     .actual =
         [](const Item& item) {
             constexpr std::size_t most_shown = 8;
             std::string keys;
             for (std::size_t i = 0; i < std::min(item.port->p_keys->size(), most_shown); ++i)
                 keys += (keys.empty() ? "" : ", ") + p_key_text((*item.port->p_keys)[i]);
             return keys.empty() ? "none" : item.port->p_keys->size() > most_shown ? keys + " ..." : keys;
         }},
    {.id = "RULE-RFC4392-1.2-01-audit",
     .checks = {&rfc4392::limited_members_kept_apart},
     .title = "members have the full-membership P_Key of their group",
     .about = About::member,
     .evidence = Evidence::whole_table,
     .needs_p_keys = true,
     .applies = [](const Item& item) { return item.port && item.port->p_keys; },
     .notes = is_limited,
     .note = "a limited member of the partition: it and other limited members do not hear each other"},
    {.id = "RULE-RFC4392-1.3-01-rate-audit",
     .checks = {&rfc4392::join_checks_mtu_and_reach},
     .title = "the links of members are as fast as their group says",
     .about = About::member,
     .evidence = Evidence::contradiction,
     .knows = told(Parameter::rate),
     .weight = Strength::should,
     .applies =
         [](const Item& item) {
             return item.port && item.port->rate != 0 && state::rate_order(item.parameters().rate) != 0;
         },
     .holds =
         [](const Item& item) {
             return state::rate_order(item.parameters().rate) <= state::rate_order(item.port->rate);
         },
     .field = "Rate",
     .expected =
         [](const Item& item) { return "at most " + rate_text(item.port->rate) + ", the rate of this member's port"; },
     .actual = of_group<Parameter::rate>},
};
static_assert(are_declared(rules_of_members));

}  // namespace

std::span<const Rule> member_rules() { return rules_of_members; }

}  // namespace ipoib::audit
