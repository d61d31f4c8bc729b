// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case send_only_members_send_only{
    .id = "IPOIB-4391-10-VAL-010",
    .title = "A SendOnlyNonMember sends to a group and does not receive its packets",
    .checks = {&rfc4391::send_only_member_semantics, &rfc4392::send_only_member_routing},
    .pass_if =
        "a packet to the group gets from a SendOnlyNonMember to the FullMember, and none gets back; both get through "
        "when it is a FullMember",
    .tags = {"sa", "routing", "egress"},
    .impact = Impact::link,
    .needs = Ability::two_ports,
    .subject = Subject::sa,
    .lasts_at_most = 40s,
    .steps =
        [](Bench& bench) {
            auto& member = bench.tester.first();
            auto& sender = bench.tester.second();
            const auto group = bench.fresh_group4();
            const auto mgid = bench.mgid_of(group);
            const auto facts = member.join(mgid, JoinState::full_member);
            const auto packet = udp_to_group(group, facts.mlid(), bench.fresh_port());
            bench.step("The second port is a FullMember");
            sender.join(mgid, JoinState::full_member);
            bench.precondition(bench.tester.crosses(member, packet, sender), "packets get to the second port");
            bench.precondition(bench.tester.crosses(sender, packet, member), "packets get to the first port");
            sender.ask_to_leave(mgid, JoinState::full_member);
            bench.step("The second port is a SendOnlyNonMember");
            sender.join(mgid, JoinState::send_only_non_member);
            sender.listen_to(facts);
            bench.pass_time(1s);
            bench.require(bench.tester.crosses(sender, packet, member), "the packet at the FullMember", "nothing");
            member.send(packet);
            bench.require(!sender.takes_it(within(1s)), "nothing at the SendOnlyNonMember", "the packet");
            bench.step("The second port is a FullMember again");
            sender.join(mgid, JoinState::full_member);
            bench.precondition(bench.tester.crosses(member, packet, sender), "packets get to the second port");
        },
};

}  // namespace ipoib::conformance
