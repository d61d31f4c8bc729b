// SPDX-License-Identifier: GPL-2.0-or-later
// Rules on a group beside the broadcast group of its link. RFC 4391, 4 and 10.
#include "conformance/audit/common.hpp"

namespace ipoib::audit {
namespace {

/// A parameter that is as in the broadcast group.
template <auto Member>
bool is_as_in_broadcast(const Item& item) {
    return item.parameters().*Member == item.broadcast->parameters.*Member;
}
/// The membership bit is not the group's but a port's.
bool is_in_partition(const Item& item) {
    return is_same_partition(item.parameters().p_key, item.broadcast->parameters.p_key);
}
template <Parameter What>
std::string of_broadcast(const Item& item) {
    return assumptions::text_of(What, assumptions::value_of(item.broadcast->parameters, What)) +
           ", as in the broadcast group";
}
/// Nothing is proved where the broadcast group's parameters are the usual ones.
template <auto Member>
bool is_usual(const Item& item) {
    return item.broadcast->parameters.*Member == state::usual_broadcast_group.*Member;
}
constexpr std::string_view usual_note = "the broadcast group's value is also the usual default, so these prove little";

/// A rule on one parameter, which `holds` compares.
template <auto Member, Parameter What>
constexpr Rule taken_over(std::string_view id, std::array<const Requirement*, 2> checks, std::string_view title,
                          std::string_view field, Predicate holds = is_as_in_broadcast<Member>) {
    return {.id = id,
            .checks = checks,
            .title = title,
            .about = About::of_link,
            .evidence = Evidence::contradiction,
            .knows = told(What),
            .holds = holds,
            .notes = is_usual<Member>,
            .note = usual_note,
            .field = field,
            .expected = of_broadcast<What>,
            .actual = of_group<What>};
}

constexpr const Requirement& like_broadcast = rfc4391::new_group_broadcast_parameters;
constexpr const Requirement& rest_like_broadcast = rfc4391::new_group_other_attributes;

constexpr Rule rules_of_links[] = {
    {.id = "RULE-RFC4391-4-11-audit",
     .checks = {&rfc4391::mgid_scope_of_broadcast_gid},
     .title = "the MGID of an IP group has the scope of its broadcast-GID",
     .about = About::of_link,
     .evidence = Evidence::whole_table,
     .needs_all = true,
     .holds = [](const Item& item) { return scope_of(item.group) == scope_of(*item.broadcast); },
     .field = "MGID",
     .expected = [](const Item& item) { return scope_text(scope_of(*item.broadcast)); },
     .actual = [](const Item& item) { return scope_text(scope_of(item.group)); }},
    taken_over<&G::mtu, Parameter::mtu>("RULE-RFC4391-10-16-audit", {&rfc4391::new_group_link_mtu, &like_broadcast},
                                        "a group has the MTU of the broadcast group", "MTU"),
    taken_over<&G::p_key, Parameter::p_key>("RULE-RFC4391-10-17-p-key-audit", {&like_broadcast},
                                            "a group has the P_Key of the broadcast group", "P_Key", is_in_partition),
    taken_over<&G::q_key, Parameter::q_key>("RULE-RFC4391-10-17-q-key-audit", {&like_broadcast},
                                            "a group has the Q_Key of the broadcast group", "Q_Key"),
    taken_over<&G::sl, Parameter::sl>("RULE-RFC4391-10-17-sl-audit", {&like_broadcast},
                                      "a group has the SL of the broadcast group", "SL"),
    taken_over<&G::hop_limit, Parameter::hop_limit>("RULE-RFC4391-10-17-hop-limit-audit", {&like_broadcast},
                                                    "a group has the HopLimit of the broadcast group", "HopLimit"),
    taken_over<&G::traffic_class, Parameter::traffic_class>("RULE-RFC4391-10-18-tclass-audit", {&rest_like_broadcast},
                                                            "a group has the TClass of the broadcast group", "TClass"),
    taken_over<&G::flow_label, Parameter::flow_label>("RULE-RFC4391-10-18-flow-label-audit", {&rest_like_broadcast},
                                                      "a group has the FlowLabel of the broadcast group", "FlowLabel"),
    taken_over<&G::rate, Parameter::rate>("RULE-RFC4391-10-18-rate-audit", {&rest_like_broadcast},
                                          "a group has the rate of the broadcast group", "Rate"),
    taken_over<&G::lifetime, Parameter::lifetime>("RULE-RFC4391-10-18-lifetime-audit", {&rest_like_broadcast},
                                                  "a group has the PacketLifeTime of the broadcast group",
                                                  "PacketLifeTime"),
};
static_assert(are_declared(rules_of_links));

}  // namespace

std::span<const Rule> link_rules() { return rules_of_links; }

}  // namespace ipoib::audit
