// SPDX-License-Identifier: GPL-2.0-or-later
// Rules on a group beside the broadcast group of its link. RFC 4391, 4 and 10.
#include "conformance/audit/words.hpp"

namespace ipoib::audit {
namespace {

/// A parameter that is as in the broadcast group.
template <auto Member>
bool is_as_in_broadcast(const Item& item) {
    return item.parameters().*Member == item.broadcast->parameters.*Member;
}
template <Told What>
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

constexpr const Requirement& like_broadcast = rfc4391::new_group_broadcast_parameters;
constexpr const Requirement& rest_like_broadcast = rfc4391::new_group_other_attributes;

constexpr Rule rules_of_kind[] = {
    {.id = "RULE-RFC4391-4-11-audit",
     .checks = {&rfc4391::mgid_scope_of_broadcast_gid},
     .title = "the MGID of an IP group has the scope of its broadcast-GID",
     .about = About::of_link,
     .holds = [](const Item& item) { return scope_of(item.group) == scope_of(*item.broadcast); },
     .field = "MGID",
     .expected = [](const Item& item) { return scope_text(scope_of(*item.broadcast)); },
     .actual = [](const Item& item) { return scope_text(scope_of(item.group)); }},
    {.id = "RULE-RFC4391-10-16-audit",
     .checks = {&rfc4391::new_group_link_mtu, &like_broadcast},
     .title = "a group has the MTU of the broadcast group",
     .about = About::of_link,
     .knows = told(Told::mtu),
     .holds = is_as_in_broadcast<&G::mtu>,
     .notes = is_usual<&G::mtu>,
     .note = usual_note,
     .field = "MTU",
     .expected = of_broadcast<Told::mtu>,
     .actual = of_group<Told::mtu>},
    {.id = "RULE-RFC4391-10-17-p-key-audit",
     .checks = {&like_broadcast},
     .title = "a group has the P_Key of the broadcast group",
     .about = About::of_link,
     .knows = told(Told::p_key),
     .holds =
         [](const Item& item) { return is_same_partition(item.parameters().p_key, item.broadcast->parameters.p_key); },
     .notes = is_usual<&G::p_key>,
     .note = usual_note,
     .field = "P_Key",
     .expected = of_broadcast<Told::p_key>,
     .actual = of_group<Told::p_key>},
    {.id = "RULE-RFC4391-10-17-q-key-audit",
     .checks = {&like_broadcast},
     .title = "a group has the Q_Key of the broadcast group",
     .about = About::of_link,
     .knows = told(Told::q_key),
     .holds = is_as_in_broadcast<&G::q_key>,
     .notes = is_usual<&G::q_key>,
     .note = usual_note,
     .field = "Q_Key",
     .expected = of_broadcast<Told::q_key>,
     .actual = of_group<Told::q_key>},
    {.id = "RULE-RFC4391-10-17-sl-audit",
     .checks = {&like_broadcast},
     .title = "a group has the SL of the broadcast group",
     .about = About::of_link,
     .knows = told(Told::sl),
     .holds = is_as_in_broadcast<&G::sl>,
     .notes = is_usual<&G::sl>,
     .note = usual_note,
     .field = "SL",
     .expected = of_broadcast<Told::sl>,
     .actual = of_group<Told::sl>},
    {.id = "RULE-RFC4391-10-17-hop-limit-audit",
     .checks = {&like_broadcast},
     .title = "a group has the HopLimit of the broadcast group",
     .about = About::of_link,
     .knows = told(Told::hop_limit),
     .holds = is_as_in_broadcast<&G::hop_limit>,
     .notes = is_usual<&G::hop_limit>,
     .note = usual_note,
     .field = "HopLimit",
     .expected = of_broadcast<Told::hop_limit>,
     .actual = of_group<Told::hop_limit>},
    {.id = "RULE-RFC4391-10-18-tclass-audit",
     .checks = {&rest_like_broadcast},
     .title = "a group has the TClass of the broadcast group",
     .about = About::of_link,
     .knows = told(Told::traffic_class),
     .holds = is_as_in_broadcast<&G::traffic_class>,
     .notes = is_usual<&G::traffic_class>,
     .note = usual_note,
     .field = "TClass",
     .expected = of_broadcast<Told::traffic_class>,
     .actual = of_group<Told::traffic_class>},
    {.id = "RULE-RFC4391-10-18-flow-label-audit",
     .checks = {&rest_like_broadcast},
     .title = "a group has the FlowLabel of the broadcast group",
     .about = About::of_link,
     .knows = told(Told::flow_label),
     .holds = is_as_in_broadcast<&G::flow_label>,
     .notes = is_usual<&G::flow_label>,
     .note = usual_note,
     .field = "FlowLabel",
     .expected = of_broadcast<Told::flow_label>,
     .actual = of_group<Told::flow_label>},
    {.id = "RULE-RFC4391-10-18-rate-audit",
     .checks = {&rest_like_broadcast},
     .title = "a group has the rate of the broadcast group",
     .about = About::of_link,
     .knows = told(Told::rate),
     .holds = is_as_in_broadcast<&G::rate>,
     .notes = is_usual<&G::rate>,
     .note = usual_note,
     .field = "Rate",
     .expected = of_broadcast<Told::rate>,
     .actual = of_group<Told::rate>},
};

}  // namespace

std::span<const Rule> link_rules() { return rules_of_kind; }

}  // namespace ipoib::audit
