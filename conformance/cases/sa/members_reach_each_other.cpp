// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case members_reach_each_other{
    .id = "IPOIB-4391-5-VAL-004",
    .title = "Two FullMembers of a group reach each other by it, and there are paths between their ports",
    .checks = {&rfc4391::join_takes_effect, &rfc4391::members_reach_each_other, &rfc4391::fabric_multicast,
               &rfc4392::full_member_routing},
    .pass_if = "a packet to the group gets from each port to the other, and the SA tells each the LID of the other",
    .tags = {"sa", "routing"},
    .impact = Impact::link,
    .needs = Ability::two_ports,
    .subject = Subject::sa,
    .lasts_at_most = 20s,
    .steps =
        [](Bench& bench) {
            auto& one = bench.tester.first();
            auto& other = bench.tester.second();
            const auto group = bench.fresh_group4();
            const auto mlid = one.join(bench.mgid_of(group), JoinState::full_member).mlid();
            other.join(bench.mgid_of(group), JoinState::full_member);
            const auto packet = udp_to_group(group, mlid, bench.fresh_port());
            bench.step("A packet to the group from the first port");
            bench.require(bench.tester.crosses(one, packet, other), "the packet at the second port", "nothing");
            bench.step("A packet to the group from the second port");
            bench.require(bench.tester.crosses(other, packet, one), "the packet at the first port", "nothing");
            bench.step("The paths between them", rfc4391::members_reach_each_other);
            bench.require(one.path_to(other) == other.self().lid, "a path to LID " + hex(other.self().lid, 4),
                          hex(one.path_to(other), 4));
            bench.require(other.path_to(one) == one.self().lid, "a path to LID " + hex(one.self().lid, 4),
                          hex(other.path_to(one), 4));
        },
};

}  // namespace ipoib::conformance
