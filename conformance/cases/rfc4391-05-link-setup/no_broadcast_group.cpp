// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case no_link_without_broadcast_group{
    .id = "IPOIB-4391-5-INV-004",
    .title = "Without a broadcast group there is no link; the first node may create it",
    .checks = {&rfc4391::broadcast_group_exists, &rfc4391::broadcast_group_creation},
    .pass_if =
        "while there is no broadcast group the DUT sends no IPoIB packet, unless it creates one; then it comes up",
    .tags = {"sa", "broadcast"},
    .impact = Impact::fabric,
    .needs = Ability::see_all | Ability::fabric_control,
    .dut_can = {"up", "send"},
    .begin = Begin::down,
    .lasts_at_most = 100s,
    .steps =
        [](Bench& bench) {
            const auto broadcast = bench.link().broadcast_gid();
            bench.step("The broadcast group is gone when the interface comes up", rfc4391::broadcast_group_exists);
            bench.fabric.change(SetGroup{broadcast, false});
            bench.dut.begins_to_come_up();
            bench.dut.tries_to_send(IpAddress::v4(0xffffffff), bench.fresh_port());
            bench.pass_time(5s);
            bench.precondition(bench.count(request_about(broadcast)) > 0, "the DUT asks for the broadcast group");
            const bool is_created = bench.sa.group(broadcast).has_value();
            if (is_created)
                bench.require(true, "a broadcast group");
            else
                bench.forbid_so_far(any_ipoib());
            bench.same_step("Whether it creates the group", rfc4391::broadcast_group_creation);
            bench.require(true, "either");
            bench.note(is_created ? "the DUT creates the broadcast group" : "the DUT waits for the broadcast group");
            if (is_created) return;
            bench.step("The administrator creates the group", rfc4391::broadcast_group_exists);
            bench.fabric.change(SetGroup{broadcast, true});
            bench.tester.enter_link_again();
            bench.dut.comes_up();
            bench.control();
        },
};

}  // namespace ipoib::conformance
