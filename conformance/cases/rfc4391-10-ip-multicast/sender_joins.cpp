// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case sender_joins_existing_group{
    .id = "IPOIB-4391-10-VAL-001",
    .title = "A sender joins an existing group as SendOnlyNonMember, then sends to it",
    .checks = {&rfc4391::send_only_join, &rfc4391::sender_joins_first, &rfc4391::sender_checks_group,
               &rfc4391::group_created_before_use},
    .pass_if =
        "the DUT joins the group with JoinState SendOnlyNonMember, and its datagram reaches the members; a group that "
        "it was a member of and has left it joins anew before it sends there",
    .tags = {"sa", "egress", "ipv4", "ipv6"},
    .needs = Ability::see_all,
    .dut_can = {"send"},
    .in_both_families = true,
    .lasts_at_most = 60s,
    .steps =
        [](Bench& bench) {
            const auto group = bench.fresh_group();
            const auto port = bench.fresh_port();
            bench.step("The DUT sends to a group that exists", rfc4391::sender_joins_first, rfc4391::send_only_join);
            const auto mgid = bench.sa.join(group).mgid;
            bench.dut.sends(group, port);
            bench.dut.maps_rightly(group);
            bench.require(join_of(mgid), within(3s));
            bench.require(udp_from_dut(group, port), within(5s));

            bench.step("What it asks the SA before it sends to another", rfc4391::sender_checks_group,
                       rfc4391::group_created_before_use);
            const auto third = bench.fresh_group();
            const auto third_mgid = bench.sa.join(third).mgid;
            bench.dut.sends(third, port);
            bench.precondition(udp_from_dut(third, port), within(5s));
            bench.require(bench.count(request_about(third_mgid)) > 0, "a request about " + text(third_mgid), "none");

            bench.step("Its JoinState", rfc4391::send_only_join);
            const auto another = bench.fresh_group();
            const auto its_mgid = bench.sa.join(another).mgid;
            bench.dut.sends(another, port);
            bench.precondition(join_of(its_mgid), within(3s));
            constexpr std::uint8_t send_only_non_member = 4;
            const auto state = bench.sa.join_state_asked(its_mgid);
            bench.require(state == send_only_non_member, "JoinState 4 (SendOnlyNonMember)",
                          "JoinState " + std::to_string(state));

            if (!bench.dut->can("join") || !bench.dut->can("leave")) return;
            bench.step("A program is in a group, and leaves it", rfc4391::sender_joins_first);
            const auto former = bench.fresh_group();
            const auto former_mgid = bench.sa.join(former).mgid;
            const auto joins_and_leaves = [&] {
                try {
                    bench.dut->join(former);
                    bench.pass_time(2s);
                    bench.dut->leave(former);
                    bench.pass_time(2s);
                    return true;
                } catch (const ControlFailed&) {
                    return false;
                }
            };
            // Who leaves in another state than it has joined with, which is for other cases, may be a member still.
            const auto is_full_member = [](const Packet& packet, auto&) {
                const auto record = packet.get<McMemberRecord>();
                return record && record[McMemberRecord::join_state] == join_state::full_member;
            };
            const auto join = join_of(former_mgid).such_that("as FullMember", is_full_member);
            const auto leave = leave_of(former_mgid).such_that("as FullMember", is_full_member);
            if (!joins_and_leaves() || bench.count(join) == 0 || bench.count(leave) == 0)
                return bench.note("the DUT was not seen to join and to leave a group for a program");
            if (bench.count(join) != bench.count(join_of(former_mgid)))
                return bench.note("the DUT has joined the group in other states, too, and may be in it still");
            bench.step("It sends to the group that it has left", rfc4391::sender_joins_first);
            bench.dut.sends(former, port);
            const auto datagram = udp_from_dut(former, port);
            bench.precondition(datagram, within(5s));
            bench.require(bench.comes_before(join_of(former_mgid), datagram), "a join before the datagram", "none");
        },
};

}  // namespace ipoib::conformance
