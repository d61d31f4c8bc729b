// SPDX-License-Identifier: GPL-2.0-or-later
// Rules on what lies below a link: IB subnets and routers between them, paths, switches. RFC 4391, 4.1 and 9.1.2; RFC
// 4392, 1.3; the chapter on UD multicasting.
#include "conformance/audit/common.hpp"

namespace ipoib::audit {
namespace {

bool spans_subnets(const Item& item) { return item.span == LinkSpan::several; }
bool is_confined(const Item& item) { return item.span == LinkSpan::one; }
bool is_wider(const Item& item) { return scope_of(item.group) > local_scope; }
std::string scope_of_group(const Item& item) { return scope_text(scope_of(item.group)); }
std::string hop_limit_text(const Item& item) { return std::to_string(item.parameters().hop_limit); }

constexpr std::string_view no_routers_told = "that routers join these subnets is not told";

constexpr Rule rules_of_subnets[] = {
    {.id = "RULE-RFC4391-4.1-04-audit",
     .checks = {&rfc4391::broadcast_group_topology},
     .title = "the broadcast group of a link that spans IB subnets has a HopLimit with which packets get there",
     .about = About::broadcast,
     .evidence = Evidence::contradiction,
     .knows = told(Parameter::hop_limit),
     // A wide scope alone does not make a link span subnets.
     .applies =
         [](const Item& item) {
             const bool may_span = item.span == LinkSpan::unknown && is_wider(item);
             return spans_subnets(item) || (may_span && item.parameters().hop_limit == 0);
         },
     .holds = [](const Item& item) { return item.parameters().hop_limit != 0; },
     .lacks = [](const Item& item) { return !spans_subnets(item); },
     .what_lacks = "whether the link spans several IB subnets is not told",
     // IBTA Vol 1, 8.3.6: a router passes nothing on that came with 1 either; RFC 4391 does not say so.
     .notes = [](const Item& item) { return item.parameters().hop_limit == 1; },
     .note = "a HopLimit of 1 ends at the first router",
     .field = "HopLimit",
     .expected = [](const Item&) { return std::string("at least 1, for packets that pass routers"); },
     .actual = hop_limit_text},
    {.id = "RULE-RFC4391-4.1-06-audit",
     .checks = {&rfc4391::broadcast_gid_scope_by_span},
     .title = "the broadcast-GID of a link that spans IB subnets has more than local-subnet scope",
     .about = About::broadcast,
     .evidence = Evidence::contradiction,
     .applies = spans_subnets,
     .holds = is_wider,
     .field = "MGID",
     .expected = [](const Item& item) { return "a wider scope: " + std::string(item.why_it_spans); },
     .actual = scope_of_group},
    // What is confined today may be planned to grow.
    {.id = "RULE-RFC4391-4.1-06-confined-audit",
     .checks = {&rfc4391::broadcast_gid_scope_by_span},
     .title = "the broadcast-GID of a link in a subnet without routers has local-subnet scope",
     .about = About::broadcast,
     .evidence = Evidence::contradiction,
     .weight = Strength::should,
     .applies = is_confined,
     .holds = [](const Item& item) { return !is_wider(item); },
     .field = "MGID",
     .expected = [](const Item&) { return scope_text(local_scope) + ", where no router leads out of the subnet"; },
     .actual = scope_of_group},
    {.id = "RULE-RFC4391-9.1.2-02-audit",
     .checks = {&rfc4391::unicast_connectivity},
     .title = "there is a path between any two members of the broadcast group",
     .about = About::pair,
     .evidence = Evidence::one_record,
     .holds = [](const Item& item) { return item.pair->has_path; },
     .field = "PathRecord",
     .expected = [](const Item& item) { return "a path to " + text(item.pair->to); },
     .actual = [](const Item&) { return std::string("none"); }},
    {.id = "RULE-RFC4392-1.3-02-audit",
     .checks = {&rfc4392::multi_subnet_mtu},
     .title = "a group that spans IB subnets has the same MTU in each",
     .about = About::shared,
     .evidence = Evidence::contradiction,
     .knows = told(Parameter::mtu),
     .holds = [](const Item& item) { return item.parameters().mtu == item.elsewhere->parameters.mtu; },
     .lacks = [](const Item& item) { return !spans_subnets(item); },
     .what_lacks = no_routers_told,
     .field = "MTU",
     .expected = [](const Item& item) { return mtu_text(item.elsewhere->parameters.mtu) + ", as in the other subnet"; },
     .actual = mtu_of_group},
    {.id = "RULE-RFC4392-1.3-03-audit",
     .checks = {&rfc4392::multi_subnet_pkey},
     .title = "a group that spans IB subnets has the same P_Key in each",
     .about = About::shared,
     .evidence = Evidence::contradiction,
     .knows = told(Parameter::p_key),
     // The membership bit is the port's.
     .holds =
         [](const Item& item) { return is_same_partition(item.parameters().p_key, item.elsewhere->parameters.p_key); },
     .lacks = [](const Item& item) { return !spans_subnets(item); },
     .what_lacks = no_routers_told,
     .field = "P_Key",
     .expected =
         [](const Item& item) { return p_key_text(item.elsewhere->parameters.p_key) + ", as in the other subnet"; },
     .actual = of_group<Parameter::p_key>},
    {.id = "RULE-UDMC-10-audit",
     .checks = {&udmc::switch_multicast_capability},
     .title = "the switch that a member of the broadcast group is attached to can forward multicast",
     .about = About::member,
     .evidence = Evidence::whole_table,
     .needs_members = true,
     // Between two ports every packet passes the switches that they are attached to.
     .applies =
         [](const Item& item) {
             return is_broadcast_gid(item.parameters().mgid) && item.group.members.size() > 1 && item.port &&
                    item.port->switch_groups.has_value();
         },
     .holds = [](const Item& item) { return *item.port->switch_groups != 0; },
     .field = "SwitchInfo.MulticastFDBCap",
     .expected = [](const Item&) { return std::string("at least 1"); },
     .actual = [](const Item&) { return std::string("0"); }},
};
static_assert(are_declared(rules_of_subnets));

}  // namespace

std::span<const Rule> subnet_rules() { return rules_of_subnets; }

}  // namespace ipoib::audit
