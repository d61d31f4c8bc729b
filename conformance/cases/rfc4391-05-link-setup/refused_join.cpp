// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case interface_stays_down_without_join{
    .id = "IPOIB-4391-5-INV-002",
    .title = "An interface whose join of the broadcast group is refused does not use the link",
    .checks = {&rfc4391::broadcast_full_member_join, &rfc4392::failed_join_keeps_off_subnet},
    .pass_if =
        "while the SA refuses the join the DUT sends no IPoIB packet; once it grants it, the DUT asks again and comes "
        "up",
    .tags = {"sa", "broadcast"},
    .impact = Impact::link,
    .needs = Ability::see_all | Ability::fabric_control,
    .dut_can = {"up", "send"},
    .begin = Begin::down,
    .lasts_at_most = 150s,
    .steps =
        [](Bench& bench) {
            bench.step("The SA refuses the DUT's join of the broadcast group");
            bench.fabric.change(refused_joins(bench.link().broadcast_gid()));
            bench.dut.begins_to_come_up();
            bench.dut.tries_to_send(IpAddress::v4(0xffffffff), bench.fresh_port());
            bench.pass_time(5s);
            bench.precondition(bench.count(join_of(bench.link().broadcast_gid())) > 0, "the DUT asks to join");
            bench.forbid_so_far(any_ipoib());
            bench.step("The SA grants it", rfc4391::broadcast_full_member_join);
            bench.fabric.change(SetSa{.resets = true});
            bench.require(join_of(bench.link().broadcast_gid()), within(60s));
            bench.dut.comes_up();
            bench.control();
        },
};

const Case setup_is_tried_again{
    .id = "IPOIB-4391-5-VAL-010",
    .title = "The link is set up as soon as the subnet administrator lets the DUT in",
    .checks = {&rfc4391::broadcast_full_member_join},
    .pass_if =
        "a DUT that comes up while the subnet administrator does not answer, is busy, or refuses its join, is "
        "FullMember "
        "of the broadcast group soon after that has ended",
    .tags = {"sa", "broadcast"},
    .impact = Impact::fabric,
    .needs = Ability::trusted_sa | Ability::see_all | Ability::fabric_control,
    .dut_can = {"up", "down"},
    .lasts_at_most = 300s,
    .steps =
        [](Bench& bench) {
            const auto broadcast = bench.link().broadcast_gid();
            constexpr std::uint32_t busy_for_long = 1000;
            const std::vector<std::pair<std::string_view, SetSa>> troubles{
                {"does not answer", {.is_silent = true}},
                {"is busy", {.busy_next = busy_for_long}},
                {"refuses the join", {.refuse_joins = sa_status::invalid_request, .refuse_only = broadcast}}};
            for (const auto& [what, trouble] : troubles) {
                bench.step("The DUT comes up while the SA " + std::string(what));
                bench.dut->down();
                bench.pass_time(1s);
                bench.fabric.change(trouble);
                bench.dut.begins_to_come_up();
                bench.pass_time(3s);
                bench.precondition(bench.count(request_about(broadcast)) != 0,
                                   "the DUT asks about the broadcast group");
                bench.step("The SA answers as it should");
                bench.fabric.change(SetSa{.resets = true});
                bench.require(bench.sa.has_dut_as_full_member(broadcast, within(60s)),
                              "FullMember of the broadcast group", "not at the SA");
            }
        },
};

}  // namespace ipoib::conformance
