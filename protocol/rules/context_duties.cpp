// SPDX-License-Identifier: GPL-2.0-or-later
// What a port has to do some time after something else. RFC 4391, 10 and 11.
#include "protocol/requirements/catalogue.hpp"
#include "protocol/rules/common.hpp"

#include <algorithm>

namespace ipoib::rules {
namespace {

using state::Event;
using state::EventKind;
using state::Subnet;

constexpr Parts of_sa = parts(Part::lrh, Part::mad, Part::sa);

std::uint8_t states_of(const Subnet& subnet, const Event& event) {
    const auto* member = subnet.member(event.group, event.port);
    const bool has_lapsed = member && member->joined_at.order < subnet.port(event.port).lapsed.order;
    return member && !has_lapsed ? member->joined : std::uint8_t{0};
}
bool is_joined_as_full_member(const Subnet& subnet, const Event& event) {
    return (states_of(subnet, event) & join_state::full_member) != 0;
}
/// Another interface of the port may listen, too, without saying so: reports of one suppress those of others.
bool is_joined_alone(const Subnet& subnet, const Event& event) {
    const auto& port = subnet.port(event.port);
    const auto is_on_link = [&](std::uint32_t qpn) {
        const auto* one = subnet.queue_pair({port.lid, qpn});
        return one && &subnet.links()[subnet.link_with(*one)] == event.link;
    };
    return is_joined_as_full_member(subnet, event) &&
           std::count_if(port.qpns.begin(), port.qpns.begin() + port.qpn_count, is_on_link) <= 1;
}
/// Who routes no more has nothing to do.
bool is_router_member(const Subnet& subnet, const Event& event) {
    return !subnet.port(event.port).is_router() ||
           (states_of(subnet, event) & (join_state::full_member | join_state::non_member)) != 0;
}
bool has_asked_of_both(const Subnet& subnet, const Event& event) {
    const auto& requester = subnet.requester(event.port);
    const auto* member = subnet.member(event.group, event.port);
    const bool is_over = member && member->subscribed.order < subnet.port(event.port).lapsed.order;
    const unsigned own = member && !is_over ? member->asks_of : 0;
    return (requester.asks_of_creation || (own & 1) != 0) && (requester.asks_of_deletion || (own & 2) != 0);
}
/// Who sends to a group has a reason to stay in it.
bool sends_still(const Subnet& subnet, const Event& event) {
    const auto* member = subnet.member(event.group, event.port);
    return member && member->last_sent.order > event.at.order;
}

bool asks(const Packet& p, std::uint8_t bits) {
    return p.mad[Mad::method] == Method::set && (p.mc_member[McMemberRecord::join_state] & bits) != 0;
}

constexpr Rule rules_of_context_duties[] = {
    {.id = "RULE-RFC4391-10-12",
     .checks = {&rfc4391::group_trap_subscription},
     .title = "a sender to a group subscribes to reports of its creation and deletion",
     .needs = of_sa,
     .evidence = Evidence::nothing_between,
     .expected = "subscriptions to traps 66 and 67",
     .duty = Duty{.begins = EventKind::first_sent,
                  .ends = {EventKind::subscribes, EventKind::subscribes},
                  .is_done = has_asked_of_both}},
    {.id = "RULE-RFC4391-10-13",
     .checks = {&rfc4391::fallback_ends_with_group},
     .title = "who was told of a group's creation does not redirect its packets any more",
     .needs = over_ib | parts(Part::lrh, Part::grh, Part::mgid),
     .evidence = Evidence::nothing_between,
     .knows = facts(Fact::watched),
     // It may have been told of the deletion since, or have asked in vain to join.
     .over =
         [](const Packet&, const Known& known) {
             auto span = with_sa(known, known.meant->told_of_creation);
             span.time_needed = grace;
             return span;
         },
     .applies =
         [](const Packet&, const Known& known) {
             const auto* meant = known.meant;
             return meant && meant->told_of_creation && meant->refused_at.order < meant->told_of_creation.order &&
                    state::elapsed(meant->told_of_creation.time, known.now.time) >= grace;
         },
     .fades = [](const Packet&, const Known& known) { return known.meant && known.meant->told_of_creation; },
     .holds = [](const Packet&) { return false; },
     .points_at = Grh::dgid,
     .expected = "the MGID of the packet's own group",
     .actual_of =
         [](const Packet& p, const Known& known) {
             return text(p.grh[Grh::dgid]) + "; its own was acknowledged as created in frame " +
                    std::to_string(known.meant->told_of_creation.frame);
         }},
    {.id = "RULE-RFC4391-10-15",
     .checks = {&rfc4391::receiver_full_member_join, &rfc4391::joiner_maps_address},
     .title = "a port whose IP joins a group joins its MGID as FullMember",
     .needs = of_sa,
     .evidence = Evidence::nothing_between,
     .expected = "a join as FullMember of the MGID that the group maps to",
     .duty = Duty{.begins = EventKind::listens,
                  .ends = {EventKind::asks_full, EventKind::asks_full},
                  .ceases = EventKind::stops_listening,
                  .is_done = is_joined_as_full_member}},
    {.id = "RULE-RFC4391-10-20",
     .checks = {&rfc4391::leaves_group},
     .title = "a port whose IP leaves a group leaves its MGID",
     .needs = of_sa,
     .evidence = Evidence::nothing_between,
     .expected = "a Delete of its FullMember membership",
     .duty = Duty{.begins = EventKind::stops_listening,
                  .ends = {EventKind::asks_to_leave, EventKind::asks_to_leave},
                  .ceases = EventKind::listens,
                  .is_due = is_joined_alone,
                  .is_done = sends_still}},
    {.id = "RULE-RFC4391-11-02",
     .checks = {&rfc4391::router_lists_groups},
     .title = "a router gets the list of groups before it joins them",
     .needs = parts(Part::mc_member),
     .evidence = Evidence::one_frame,
     .knows = facts(Fact::watched),
     .applies = [](const Packet& p,
                   const Known& known) { return asks(p, join_state::non_member) && known.subject->is_router(); },
     .notes = [](const Packet&) { return true; },
     .note = "joins as NonMember by a port that had asked for the table of groups",
     .points_at = McMemberRecord::join_state},
    {.id = "RULE-RFC4391-11-03",
     .checks = {&rfc4391::router_non_member_join},
     .title = "a router joins every IP group that it is told of",
     .needs = of_sa,
     .evidence = Evidence::nothing_between,
     .expected = "a join as NonMember",
     .duty = Duty{.begins = EventKind::told_of_group,
                  .ends = {EventKind::asks_non_member, EventKind::asks_full},
                  .is_done = is_router_member}},
    {.id = "RULE-RFC4391-11-04",
     .checks = {&rfc4391::router_wildcard_subscription, &rfc4392::router_follows_creations},
     .title = "a router subscribes to the creation of all groups",
     .needs = of_sa,
     .evidence = Evidence::nothing_between,
     .expected = "a subscription to trap 66 for all groups",
     .duty = Duty{.begins = EventKind::becomes_router,
                  .ends = {EventKind::subscribes_created, EventKind::subscribes_created},
                  .is_done =
                      [](const Subnet& subnet, const Event& event) {
                          return !subnet.port(event.port).is_router() || subnet.requester(event.port).asks_of_creation;
                      }}},
};
static_assert(are_declared(rules_of_context_duties));

}  // namespace

std::span<const Rule> context_duties() { return rules_of_context_duties; }

}  // namespace ipoib::rules
