// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case non_members_send_and_receive{
    .id = "IPOIB-4391-11-VAL-004",
    .title = "A NonMember receives the packets of a group and sends to it",
    .checks = {&rfc4391::non_member_semantics, &rfc4392::non_member_routing},
    .pass_if = "a packet to the group gets from a FullMember to a NonMember, and from the NonMember to the FullMember",
    .tags = {"sa", "routing", "router"},
    .impact = Impact::link,
    .needs = Ability::two_ports,
    .subject = Subject::sa,
    .lasts_at_most = 30s,
    .steps =
        [](Bench& bench) {
            auto& member = bench.tester.first();
            auto& router = bench.tester.second();
            const auto group = bench.fresh_group4();
            const auto mgid = bench.mgid_of(group);
            const auto mlid = member.join(mgid, JoinState::full_member).mlid();
            const auto packet = udp_to_group(group, mlid, bench.fresh_port());
            bench.step("The second port is a FullMember");
            router.join(mgid, JoinState::full_member);
            bench.precondition(bench.tester.crosses(member, packet, router), "packets get to the second port");
            bench.precondition(bench.tester.crosses(router, packet, member), "packets get to the first port");
            router.ask_to_leave(mgid, JoinState::full_member);
            bench.step("The second port is a NonMember");
            router.join(mgid, JoinState::non_member);
            bench.require(bench.tester.crosses(member, packet, router), "the packet at the NonMember", "nothing");
            bench.require(bench.tester.crosses(router, packet, member), "the packet of the NonMember", "nothing");
        },
};

}  // namespace ipoib::conformance
