// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case interface_stays_down_without_join{
    .id = "IPOIB-4391-5-INV-002",
    .title = "An interface whose join of the broadcast group is refused does not use the link",
    .checks = {&rfc4391::broadcast_full_member_join, &rfc4392::failed_join_keeps_off_subnet},
    .pass_if = "while the SA refuses the join the DUT sends no IPoIB packet; once it grants it, the DUT comes up",
    .tags = {"sa", "broadcast"},
    .impact = Impact::link,
    .needs = Ability::see_all | Ability::fabric_control,
    .dut_can = {"up", "send"},
    .begin = Begin::down,
    .lasts_at_most = 100s,
    .steps =
        [](Bench& bench) {
            bench.step("The SA refuses the DUT's join of the broadcast group");
            bench.fabric.change(refused_joins(bench.link().broadcast_gid()));
            bench.dut.begins_to_come_up();
            bench.dut.tries_to_send(IpAddress::v4(0xffffffff), bench.fresh_port());
            bench.pass_time(5s);
            bench.precondition(bench.count(join_of(bench.link().broadcast_gid())) > 0, "the DUT asks to join");
            bench.forbid_so_far(any_ipoib());
            bench.step("The SA grants it");
            bench.fabric.change(SetSa{.resets = true});
            bench.dut.comes_up();
            bench.control();
        },
};

}  // namespace ipoib::conformance
