// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case attach_beyond_the_limit_fails{
    .id = "IPOIB-UDMC-INV-004",
    .title = "A join beyond the adapter's limit of multicast groups fails at once",
    .checks = {&udmc::attach_limit},
    .pass_if =
        "of one join more than the limit in the DUT's profile at least one fails; the DUT goes on. NA where its calls "
        "end before the SA has answered",
    .tags = {"hca", "robust", "ipv4", "ipv6"},
    .dut_can = {"join", "leave"},
    .in_both_families = true,
    .lasts_at_most = 300s,
    .steps =
        [](Bench& bench) {
            const auto limit = bench.profile().multicast_limit;
            if (limit == 0) bench.not_applicable("the DUT's profile does not tell its limit (multicast_limit)");
            constexpr unsigned most = 1024;
            if (limit > most) bench.not_applicable("the DUT's limit is more than a case tries");
            bench.step("The DUT joins one group more than it can");
            bench.control();
            bool has_failed = false, has_waited = true;
            for (unsigned i = 0; i <= limit && !has_failed; ++i) {
                const auto group = bench.fresh_group();
                has_failed = !bench.dut.can_join(group);
                has_waited = has_waited && (has_failed || bench.sa.has_answered_join(bench.mgid_of(group)));
            }
            if (!has_failed && !has_waited)
                bench.not_applicable(
                    "the DUT's calls are not seen to end after the SA's answer, which goes before attaching");
            bench.require(has_failed, "an error by group " + std::to_string(limit + 1), "every join succeeds");
            bench.control();
        },
};

}  // namespace ipoib::conformance
