// SPDX-License-Identifier: GPL-2.0-or-later
// RFC 4391, 5: how an interface joins its link, and what the broadcast group carries.
#include "protocol/requirements/catalogue.hpp"
#include "protocol/rules/common.hpp"

namespace ipoib::rules {
namespace {

/// A multicast router joins every group as NonMember too, this one among them.
bool is_broadcast_join(const Packet& p, const Known& known) {
    const auto state = asked_state(p);
    // Another program of a port that is on the link already may join the group in its own way.
    const bool is_on_link = (known.member && (known.member->ever_joined & join_state::full_member) != 0) ||
                            (known.subject && known.subject->first_ipoib);
    if (is_on_link && (state & join_state::full_member) == 0) return false;
    return is_join(p) && is_broadcast_gid(joined(p)) && state != 0 && (state & join_state::non_member) == 0;
}

/// An IPv4 packet for everybody on a net or a subnet: sent to a group, but addressed to none. RULE-RFC4391-4-09 judges
/// 255.255.255.255. An address that does not end as a broadcast address of some prefix length does, of 30 bits at most
/// (RFC 3021), is a host's: a cluster may share that by a group.
bool is_directed_broadcast(const Packet& p) {
    constexpr std::uint32_t loopback = 127, limited_broadcast = 0xffffffff, shortest_host_part = 3, all_zeros = 0;
    const auto destination = p.ipv4[Ipv4::destination];
    const bool ends_as_one = (destination & shortest_host_part) == shortest_host_part || destination == all_zeros;
    return destination != limited_broadcast && ends_as_one && !is_ipv4_group(destination) &&
           destination >> 24 != loopback;
}

constexpr Rule rules_of_rfc4391_05[] = {
    {.id = "RULE-RFC4391-5-02",
     .checks = {&rfc4391::broadcast_full_member_join},
     .title = "an interface joins the broadcast group as FullMember",
     .needs = parts(Part::mc_member),
     .evidence = Evidence::nothing_between,
     // Before the capture it may have done so, and this be another program's join.
     .over =
         [](const Packet&, const Known&) {
             return state::Span{.doubts =
                                    state::Reason{Doubt::another_program,
                                                  "the join may be another program's, beside the interface's own"}};
         },
     .applies = is_broadcast_join,
     .holds = [](const Packet& p) { return (asked_state(p) & join_state::full_member) != 0; },
     .points_at = McMemberRecord::join_state,
     .expected = "FullMember"},
    {.id = "RULE-RFC4391-5-04",
     .checks = {&rfc4391::broadcast_group_carries_broadcasts},
     .title = "directed broadcasts go to the broadcast-GID",
     .needs = over_ib | parts(Part::grh, Part::mgid, Part::ipv4),
     .evidence = Evidence::one_frame,
     .applies = is_directed_broadcast,
     .holds = [](const Packet& p) { return is_broadcast_gid(p.grh[Grh::dgid]); },
     .points_at = Grh::dgid,
     .expected = "the broadcast-GID"},
};
static_assert(are_declared(rules_of_rfc4391_05));

}  // namespace

std::span<const Rule> rfc4391_05() { return rules_of_rfc4391_05; }

}  // namespace ipoib::rules
