// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case broadcast_group_outlives_members{
    .id = "IPOIB-4391-5-VAL-003",
    .title = "The broadcast group is the administrator's: it does not end with its last member",
    .checks = {&rfc4391::broadcast_group_under_administration},
    .pass_if = "after the tester, and whoever else was a member, has left the broadcast group the SA has it still",
    .tags = {"sa", "broadcast"},
    .impact = Impact::link,
    .subject = Subject::sa,
    .steps =
        [](Bench& bench) {
            const auto broadcast = bench.link().broadcast_gid();
            bench.step("The tester leaves the broadcast group");
            bench.precondition(bench.sa.group(broadcast).has_value(), "the SA has a broadcast group");
            bench.sa.leave(broadcast);
            bench.require(bench.sa.group(broadcast).has_value(), "the broadcast group", "no group");
            bench.step("It enters the link again");
            const auto record = bench.sa.new_group_record().set(McMemberRecord::mgid, broadcast);
            bench.precondition(bench.sa.ask_to_join(record, bench.sa.creation_mask()).is_ok(),
                               "the SA lets it in again");
            bench.tester.enter_link_again();
        },
};

}  // namespace ipoib::conformance
