// SPDX-License-Identifier: GPL-2.0-or-later
// RFC 4391, 10: how senders join, and the parameters of a group that a join creates.
#include "protocol/requirements/catalogue.hpp"
#include "protocol/rules/common.hpp"

#include <array>

namespace ipoib::rules {
namespace {

using component = McMemberRecord::component;

template <auto Member>
bool is_usual(const Packet&, const Known& known) {
    return (*known.broadcast).*Member == state::usual_broadcast_group.*Member;
}

/// A join for sending alone. Beside FullMember or NonMember the other bits add nothing.
bool is_send_only_join(const Packet& p) {
    constexpr std::uint8_t receiving = join_state::full_member | join_state::non_member;
    const auto state = asked_state(p);
    return is_join(p) && !is_broadcast_gid(joined(p)) && state != 0 && (state & receiving) == 0;
}

/// A join that creates a group of this link, if it does not exist, to be like the broadcast group.
bool creates(const Packet& p, const Known& known) {
    if (!is_creation(p, known) || is_broadcast_gid(joined(p))) return false;
    return is_same_partition(mgid_of(joined(p))[Mgid::p_key], mgid_of(known.broadcast->mgid)[Mgid::p_key]);
}
template <std::uint64_t Components>
bool creates_with(const Packet& p, const Known& known) {
    return creates(p, known) && gives(p, Components);
}
/// Rate and PacketLifeTime can be limits; only an exact one can be compared.
template <std::uint64_t Components, const auto& Selector>
bool creates_with_exactly(const Packet& p, const Known& known) {
    return creates_with<Components>(p, known) && p.mc_member[Selector] == selector::exactly;
}

/// The given component is the broadcast group's.
template <const auto& Field, auto Member>
bool is_taken_over(const Packet& p, const Known& known) {
    return p.mc_member[Field] == (*known.broadcast).*Member;
}

/// A rule on one component of a join that creates a group.
template <const auto& Field, auto Member, unsigned Digits>
constexpr Rule taken_over(std::string_view id, const Requirement& requirement, std::string_view title,
                          Predicate applies) {
    return {.id = id,
            .checks = {&requirement},
            .title = title,
            .needs = parts(Part::mc_member),
            .evidence = Evidence::nothing_between,
            .knows = facts(Fact::broadcast_record),
            .over = since_start,
            .applies = applies,
            .holds = is_taken_over<Field, Member>,
            .notes = is_usual<Member>,
            .note = usual_default,
            .points_at = Field,
            .expected_of = of_group<Member, Digits>};
}

using M = McMemberRecord;
using G = GroupParameters;
constexpr const auto& parameters = rfc4391::new_group_broadcast_parameters;
constexpr const auto& attributes = rfc4391::new_group_other_attributes;

constexpr Rule rules_of_rfc4391_10[] = {
    // RFC 4392 lets a sender join as it likes, so what RFC 4391 has in its code alone is no more than advice.
    {.id = "RULE-RFC4391-10-09",
     .checks = {&rfc4391::send_only_join},
     .title = "a join for sending only is a SendOnlyNonMember's",
     .needs = parts(Part::mc_member),
     .evidence = Evidence::one_frame,
     .weight = requirements::Strength::should,
     .applies = is_send_only_join,
     .holds = [](const Packet& p) { return asked_state(p) == join_state::send_only_non_member; },
     .points_at = M::join_state,
     .expected = "SendOnlyNonMember"},
    {.id = "RULE-RFC4391-10-16",
     .checks = {&rfc4391::new_group_link_mtu},
     .title = "a join that creates a group asks for exactly the link's MTU",
     .needs = parts(Part::mc_member),
     .evidence = Evidence::nothing_between,
     .knows = facts(Fact::broadcast_record),
     .over = since_start,
     .applies = creates,
     .holds =
         [](const Packet& p, const Known& known) {
             return gives(p, component::mtu | component::mtu_selector) &&
                    p.mc_member[M::mtu_selector] == selector::exactly && is_taken_over<M::mtu, &G::mtu>(p, known);
         },
     .notes = is_usual<&G::mtu>,
     .note = usual_default,
     .points_at = M::mtu,
     .expected_of =
         [](const Packet&, const Known& known) {
             return "exactly " + std::to_string(known.broadcast->mtu) + ", as in the broadcast group's record";
         },
     .actual_of =
         [](const Packet& p, const Known&) {
             if (!gives(p, component::mtu | component::mtu_selector)) return std::string("not given");
             constexpr std::array<std::string_view, 4> selectors{"more than", "less than", "exactly",
                                                                 "the largest, not"};
             return std::string(selectors[p.mc_member[M::mtu_selector]]) + ' ' + std::to_string(p.mc_member[M::mtu]);
         }},
    // The membership bit is not the group's but the port's. The MTU is above.
    {.id = "RULE-RFC4391-10-17-p-key",
     .checks = {&parameters},
     .title = "a join that creates a group gives the broadcast group's P_Key",
     .needs = parts(Part::mc_member),
     .evidence = Evidence::nothing_between,
     .knows = facts(Fact::broadcast_record),
     .over = since_start,
     .applies = creates_with<component::p_key>,
     .holds = [](const Packet& p,
                 const Known& known) { return is_same_partition(p.mc_member[M::p_key], known.broadcast->p_key); },
     .notes = is_usual<&G::p_key>,
     .note = usual_default,
     .points_at = M::p_key,
     .expected_of = of_group<&G::p_key, 4>},
    taken_over<M::q_key, &G::q_key, 8>("RULE-RFC4391-10-17-q-key", parameters,
                                       "a join that creates a group gives the broadcast group's Q_Key",
                                       creates_with<component::q_key>),
    taken_over<M::sl, &G::sl, 1>("RULE-RFC4391-10-17-sl", parameters,
                                 "a join that creates a group gives the broadcast group's SL",
                                 creates_with<component::sl>),
    taken_over<M::hop_limit, &G::hop_limit, 2>("RULE-RFC4391-10-17-hop-limit", parameters,
                                               "a join that creates a group gives the broadcast group's HopLimit",
                                               creates_with<component::hop_limit>),
    taken_over<M::traffic_class, &G::traffic_class, 2>("RULE-RFC4391-10-18-tclass", attributes,
                                                       "a join that creates a group gives the broadcast group's TClass",
                                                       creates_with<component::traffic_class>),
    taken_over<M::flow_label, &G::flow_label, 5>("RULE-RFC4391-10-18-flow-label", attributes,
                                                 "a join that creates a group gives the broadcast group's FlowLabel",
                                                 creates_with<component::flow_label>),
    taken_over<M::rate, &G::rate, 2>(
        "RULE-RFC4391-10-18-rate", attributes, "a join that creates a group gives the broadcast group's Rate",
        creates_with_exactly<component::rate | component::rate_selector, M::rate_selector>),
    taken_over<M::lifetime, &G::lifetime, 2>(
        "RULE-RFC4391-10-18-lifetime", attributes,
        "a join that creates a group gives the broadcast group's PacketLifeTime",
        creates_with_exactly<component::lifetime | component::lifetime_selector, M::lifetime_selector>),
    taken_over<M::scope, &G::scope, 1>("RULE-RFC4391-10-18-scope", attributes,
                                       "a join that creates a group gives the broadcast group's Scope",
                                       creates_with<component::scope>),
};
static_assert(are_declared(rules_of_rfc4391_10));

}  // namespace

std::span<const Rule> rfc4391_10() { return rules_of_rfc4391_10; }

}  // namespace ipoib::rules
