// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case join_needs_group_mtu{
    .id = "IPOIB-4391-5-INV-001",
    .title = "A join is refused to a port that does not support the group's MTU",
    .checks = {&rfc4391::join_needs_group_mtu, &rfc4392::join_checks_mtu_and_reach, &udmc::join_checks_path_mtu},
    .pass_if = "the SA refuses a group whose MTU is more than the port's, and grants one with the port's",
    .tags = {"sa", "mtu"},
    .impact = Impact::link,
    .subject = Subject::sa,
    .steps =
        [](Bench& bench) {
            const auto mtu = bench.tester.port().mtu;
            const auto join = [&](std::uint8_t code) {
                const auto record = bench.sa.new_group_record().set(McMemberRecord::mtu, code);
                return bench.sa.ask_to_join(record, bench.sa.creation_mask());
            };
            bench.step("A group with the port's MTU can be joined");
            bench.precondition(join(mtu).is_ok(), "the SA grants a join with the port's MTU");
            bench.step("A group with a larger one cannot");
            bench.sa.require_refusal(join(static_cast<std::uint8_t>(mtu + 1)));
            bench.step("A group with the port's MTU can be joined, still");
            bench.precondition(join(mtu).is_ok(), "the SA grants a join with the port's MTU");
        },
};

}  // namespace ipoib::conformance
