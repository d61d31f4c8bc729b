// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case path_is_asked_for{
    .id = "IPOIB-4391-9.1.2-VAL-002",
    .title = "The SA is asked for the path before the first packet to a peer",
    .checks = {&rfc4391::lid_by_iba_methods, &rfc4391::path_rate_before_data},
    .pass_if = "between its start and its first unicast datagram the DUT asks the SA for the path to the peer's GID",
    .tags = {"sa"},
    .needs = Ability::see_all,
    .dut_can = {"up", "send"},
    .begin = Begin::down,
    .lasts_at_most = 60s,
    .steps =
        [](Bench& bench) {
            const auto& tester = bench.situation().tester;
            const auto port = bench.fresh_port();
            bench.step("The DUT comes up and sends to the tester");
            bench.dut_comes_up();
            bench.dut_sends(IpAddress::v4(tester.ipv4), port);
            bench.precondition(udp_from_dut(IpAddress::v4(tester.ipv4), port), within(5s));
            bench.require(bench.count(path_query_of(tester.gid)) > 0, "a query of the path to " + text(tester.gid),
                          "none");
        },
};

}  // namespace ipoib::conformance
