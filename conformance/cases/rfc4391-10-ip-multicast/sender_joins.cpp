// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case sender_joins_existing_group{
    .id = "IPOIB-4391-10-VAL-001",
    .title = "A sender joins an existing group as SendOnlyNonMember, then sends to it",
    .checks = {&rfc4391::send_only_join, &rfc4391::sender_joins_first, &rfc4391::sender_checks_group,
               &rfc4391::group_created_before_use},
    .pass_if = "the DUT joins the group with JoinState SendOnlyNonMember, and its datagram reaches the members",
    .tags = {"sa", "egress", "ipv4", "ipv6"},
    .needs = Ability::see_all,
    .dut_can = {"send"},
    .in_both_families = true,
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
        },
};

}  // namespace ipoib::conformance
