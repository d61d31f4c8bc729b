// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case neighbours_are_asked_again{
    .id = "IPOIB-4391-9.4-VAL-001",
    .title = "A neighbour that was not heard of for a while is asked again before its link-layer address is used on",
    .checks = {&rfc4391::arp_cache_revalidation},
    .pass_if = "after its entries have aged the DUT asks for the tester's link-layer address again",
    .tags = {"arp", "nd", "ipv4", "ipv6"},
    .needs = Ability::see_all,
    .dut_can = {"timers", "send"},
    .in_both_families = true,
    .lasts_at_most = 40s,
    .steps =
        [](Bench& bench) {
            constexpr unsigned reachable = 2;
            const auto tester = bench.situation().tester_address();
            const auto port = bench.fresh_port();
            bench.dut->timers(reachable, 0, 0);
            bench.step("The DUT knows the tester's link-layer address");
            bench.dut.sends(tester, port);
            bench.precondition(udp_from_dut(tester, port), within(5s));
            bench.step("After a while without traffic it sends again");
            bench.pass_time(stated(std::chrono::seconds{3 * reachable}));
            bench.dut.sends(tester, port);
            // Linux sends on and asks meanwhile: up to 5 s later, then up to three times.
            bench.require(address_request_for(tester).sent_anywhere(), within(15s));
        },
};

}  // namespace ipoib::conformance
