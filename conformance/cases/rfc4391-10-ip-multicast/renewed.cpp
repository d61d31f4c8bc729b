// SPDX-License-Identifier: GPL-2.0-or-later
// A subnet manager that starts without its database asks every port to renew what it asked for:
// PortInfo.ClientReregister, IBTA Vol 1, 14.4.
#include "conformance/cases/rfc4391-10-ip-multicast/program_groups.hpp"

namespace ipoib::conformance {

const Case broadcast_membership_is_renewed{
    .id = "IPOIB-4391-5-VAL-007",
    .title = "The broadcast group is joined again when the subnet administrator has lost its memberships",
    .checks = {&rfc4391::broadcast_full_member_join},
    .pass_if =
        "after the subnet manager has started without its database the DUT is FullMember of the broadcast group again, "
        "and answers",
    .tags = {"sa", "broadcast", "reregister"},
    .impact = Impact::fabric,
    .needs = Ability::trusted_sa | Ability::fabric_control,
    .lasts_at_most = 80s,
    .steps =
        [](Bench& bench) {
            const auto broadcast = bench.link().broadcast_gid();
            bench.step("The DUT is in the broadcast group");
            bench.precondition(bench.sa.has_dut_as_full_member(broadcast, within(5s)), "the DUT is FullMember");
            bench.step("The subnet manager starts without its database");
            bench.fabric.change(SetManager{});
            bench.tester.enter_link_again();
            bench.require(bench.sa.has_dut_as_full_member(broadcast, within(30s)), "FullMember of the broadcast group",
                          "not at the SA");
            bench.control();
        },
};

const Case memberships_are_renewed{
    .id = "IPOIB-4391-10-VAL-016",
    .title = "Groups of programs are joined again when the subnet administrator has lost its memberships",
    .checks = {&rfc4391::receiver_full_member_join, &rfc4392::receiver_joins},
    .pass_if =
        "after the subnet manager has started without its database the DUT is FullMember of each program's group again",
    .tags = {"sa", "reregister", "ipv4", "ipv6"},
    .impact = Impact::fabric,
    .needs = Ability::trusted_sa | Ability::fabric_control,
    .dut_can = {"join"},
    .in_both_families = true,
    .lasts_at_most = 80s,
    .steps =
        [](Bench& bench) {
            auto groups = joined_groups(bench, several_groups);
            // IP's own, where it is there.
            const auto own = Bench::all_nodes(bench.situation().family);
            if ((bench.sa.join_state_of_dut(bench.mgid_of(own)) & join_state::full_member) != 0) groups.push_back(own);
            bench.step("The subnet manager starts without its database");
            bench.fabric.change(SetManager{});
            bench.tester.enter_link_again();
            for (const auto& one : groups)
                bench.require(bench.sa.has_dut_as_full_member(one, within(30s)), "FullMember of " + text(one),
                              "not at the SA");
        },
};

const Case subscriptions_are_renewed{
    .id = "IPOIB-4391-10-VAL-017",
    .title = "A sender subscribes to the traps again when the subnet administrator has lost its subscriptions",
    .checks = {&rfc4391::group_trap_subscription},
    .pass_if =
        "after the subnet manager has started without its database the DUT has subscribed to traps 66 and 67 again by "
        "its first packet to a group",
    .tags = {"sa", "egress", "trap", "reregister"},
    .impact = Impact::fabric,
    .needs = Ability::see_all | Ability::fabric_control,
    .dut_can = {"send"},
    .lasts_at_most = 80s,
    .steps =
        [](Bench& bench) {
            bench.stops_routing();
            const auto is_subscribed = [&](std::uint16_t trap_number) {
                return bench.count(subscription_to(trap_number)) > 0 || bench.sa.reports_to_dut(trap_number);
            };
            const auto sends_to_a_group = [&] {
                const auto group = bench.fresh_group4();
                const auto port = bench.fresh_port();
                bench.sa.join(group);
                bench.dut.sends(group, port);
                const bool is_seen = bench.happens(udp_from_dut(group, port), within(10s));
                bench.sa.leave(bench.sa.join(bench.fresh_group4()).mgid);
                bench.pass_time(1s);
                return is_seen;
            };
            bench.step("The DUT sends to a group");
            bench.precondition(sends_to_a_group(), "its datagram is seen");
            if (!is_subscribed(trap::multicast_group_created) && !is_subscribed(trap::multicast_group_deleted))
                bench.not_applicable("the DUT has subscribed to nothing");
            bench.step("The subnet manager starts without its database, and the DUT sends to another group");
            bench.fabric.change(SetManager{});
            bench.tester.enter_link_again();
            bench.pass_time(5s);
            bench.precondition(sends_to_a_group(), "its datagram is seen");
            bench.require(is_subscribed(trap::multicast_group_created), "a subscription to trap 66 (group created)",
                          "none");
            bench.require(is_subscribed(trap::multicast_group_deleted), "a subscription to trap 67 (group deleted)",
                          "none");
        },
};

}  // namespace ipoib::conformance
