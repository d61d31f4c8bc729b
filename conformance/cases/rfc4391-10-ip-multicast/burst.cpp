// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case burst_waits_for_join{
    .id = "IPOIB-4391-10-VAL-027",
    .title = "A burst to a group that is being joined leaves the group usable",
    .checks = {&rfc4391::sender_joins_first},
    .pass_if =
        "after a hundred datagrams to a group while the SA was asked for it, of which any may be lost and none is sent "
        "twice, a later one is sent to the group",
    .tags = {"sa", "egress", "ipv4", "ipv6"},
    .impact = Impact::fabric,
    .needs = Ability::see_all,
    .dut_can = {"send"},
    .in_both_families = true,
    .lasts_at_most = 90s,
    .steps =
        [](Bench& bench) {
            constexpr std::size_t burst = 100;
            const auto group = bench.fresh_group();
            const auto port = bench.fresh_port(), later = bench.fresh_port();
            const auto mgid = bench.sa.join(group).mgid;
            bench.control();
            bench.step("A burst while the SA is asked", rfc4391::sender_joins_first);
            const bool is_held_up = bench.fabric.can_change(SetSa{.is_silent = true});
            for (std::size_t i = 0; i < burst; ++i) bench.dut.tries_to_send(group, port);
            bench.pass_time(1s);
            bench.precondition(bench.count(request_about(mgid)) > 0, "the DUT asks for the group");
            if (is_held_up) bench.fabric.change(SetSa{.resets = true});
            bench.pass_time(10s);
            const auto count = bench.count(udp_from_dut(group, port));
            bench.note(std::to_string(count) + " of " + std::to_string(burst) + " were sent to the group");
            bench.require(count <= burst, "each of them once at most", std::to_string(count));
            bench.step("A later one", rfc4391::sender_joins_first);
            const auto arrived = udp_from_dut(group, later);
            for (int i = 0; i < 15 && !bench.happens(arrived, within(2s)); ++i) bench.dut.tries_to_send(group, later);
            bench.require(arrived, within(0ms));
        },
};

}  // namespace ipoib::conformance
