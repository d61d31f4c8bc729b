// SPDX-License-Identifier: GPL-2.0-or-later
// What becomes of joins whose answer has not come yet, and of answers that come in another order.
#include "conformance/cases/rfc4391-10-ip-multicast/program_groups.hpp"

namespace ipoib::conformance {
namespace {

/// The SA has lost its memberships, answers late, and has been asked for this group again.
void is_joining_again(Bench& bench, const Gid& mgid) {
    bench.fabric.change(SetSa{.delay = 1500ms});
    bench.fabric.change(SetManager{});
    bench.precondition(bench.happens(join_of(mgid), within(20s)), "the DUT asks to join the group again");
}

/// Whether the DUT gives the group up within the time that it may take to send a leave again.
bool gives_up(Bench& bench, const Gid& mgid) {
    const auto is_member = [&] { return (bench.sa.join_state_of_dut(mgid) & join_state::full_member) != 0; };
    for (int i = 0; i < 40 && is_member(); ++i) bench.pass_time(1s);
    return !is_member();
}

}  // namespace

const Case groups_are_not_mixed_up{
    .id = "IPOIB-4391-10-VAL-029",
    .title = "What the SA answers about one group is not used for another one that was asked for at the same time",
    .checks = {&rfc4391::mlid_as_dlid},
    .pass_if =
        "where two groups are asked for at once, in whichever order the SA answers, the DUT's datagrams for each go to "
        "its own MLID",
    .tags = {"sa", "egress", "ipv4", "ipv6"},
    .impact = Impact::fabric,
    .needs = Ability::see_all | Ability::fabric_control,
    .dut_can = {"send"},
    .in_both_families = true,
    .lasts_at_most = 120s,
    .steps =
        [](Bench& bench) {
            struct Order {
                const char* title;
                std::chrono::milliseconds between, second_delay;
            };
            constexpr auto delay = 600ms;
            // Who asks whether a group is there joins it only when that is answered.
            for (const auto& order :
                 {Order{"The second one is answered at once, the first one is asked about", 300ms, 0ms},
                  Order{"The second one is answered at once, the first one is joined", 800ms, 0ms},
                  Order{"Both are answered late", 300ms, delay}}) {
                struct Target {
                    IpAddress group;
                    std::uint16_t port = 0, mlid = 0;
                };
                std::array<Target, 2> targets;
                bench.step(order.title);
                for (auto& [group, port, mlid] : targets) {
                    group = bench.fresh_group();
                    port = bench.fresh_port();
                    mlid = bench.sa.join(group).mlid();
                }
                bench.fabric.change(SetSa{.delay = delay});
                bench.dut.tries_to_send(targets[0].group, targets[0].port);
                bench.pass_time(order.between);
                bench.fabric.change(SetSa{.delay = order.second_delay});
                bench.dut.tries_to_send(targets[1].group, targets[1].port);
                bench.pass_time(3s);
                bench.fabric.change(SetSa{.resets = true});
                for (const auto& [group, port, mlid] : targets)
                    bench.forbid_so_far(udp_from_dut(group, port)
                                            .such_that("to another MLID than " + hex(mlid, 4),
                                                       [mlid = mlid](const Packet& p, const Situation&) {
                                                           return p.lrh && p.lrh[Lrh::dlid] != mlid;
                                                       }));
                for (const auto& [group, port, mlid] : targets) {
                    const auto later = bench.fresh_port();
                    bench.dut.is_seen_to_send(group, later);
                    bench.inspect(udp_from_dut(group, later).with(Lrh::dlid, mlid), within(0ms));
                }
            }
        },
};

const Case left_while_joining{
    .id = "IPOIB-4391-10-VAL-030",
    .title = "A group that IP leaves while its join is under way is left at the SA",
    .checks = {&rfc4391::leaves_group},
    .pass_if =
        "the DUT is no FullMember of a group that its program left when the DUT had asked to join it, again or for the "
        "first time, and was not answered yet",
    .tags = {"sa", "reregister", "ipv4", "ipv6"},
    .impact = Impact::fabric,
    .needs = Ability::trusted_sa | Ability::fabric_control | Ability::see_all,
    .dut_can = {"join", "leave"},
    .in_both_families = true,
    .lasts_at_most = 200s,
    .steps =
        [](Bench& bench) {
            const auto group = joined_group(bench);
            const auto mgid = bench.mgid_of(group);
            bench.step("The program leaves while the DUT joins again");
            is_joining_again(bench, mgid);
            bench.dut->leave(group);
            bench.pass_time(3s);
            bench.fabric.change(SetSa{.resets = true});
            bench.tester.enter_link_again();
            bench.require(gives_up(bench, mgid), "no FullMember of " + text(group) + " any more", "still at the SA");

            bench.step("A program joins a group, and leaves it at once");
            const auto other = bench.fresh_group();
            bench.fabric.change(SetSa{.delay = 1500ms});
            const bool is_joined = bench.dut.can_join(other);
            if (is_joined) bench.dut->leave(other);
            bench.pass_time(3s);
            bench.fabric.change(SetSa{.resets = true});
            if (!is_joined) return bench.note("the DUT does not join a group that it is not answered for at once");
            bench.require(gives_up(bench, bench.mgid_of(other)), "no FullMember of " + text(other) + " any more",
                          "still at the SA");
        },
};

const Case down_while_joining{
    .id = "IPOIB-4391-10-VAL-031",
    .title = "An interface that is taken down while it joins groups leaves them at the SA",
    .checks = {&rfc4391::leaves_group},
    .pass_if =
        "a DUT that is taken down when it has asked for the broadcast group, or for a program's group, and was not "
        "answered yet, is FullMember of neither afterwards",
    .tags = {"sa", "reregister", "ipv4", "ipv6"},
    .impact = Impact::fabric,
    .needs = Ability::trusted_sa | Ability::fabric_control | Ability::see_all,
    .dut_can = {"join", "up", "down"},
    .in_both_families = true,
    .lasts_at_most = 280s,
    .steps =
        [](Bench& bench) {
            const auto group = joined_group(bench);
            const auto of_program = bench.mgid_of(group), broadcast = bench.link().broadcast_gid();
            for (const auto& [title, awaited] :
                 {std::pair{"It is taken down while it joins the program's group", of_program},
                  std::pair{"The same while it joins the broadcast group", broadcast}}) {
                bench.step(title);
                is_joining_again(bench, awaited);
                bench.dut->down();
                bench.pass_time(3s);
                bench.fabric.change(SetSa{.resets = true});
                bench.tester.enter_link_again();
                for (const auto& mgid : {of_program, broadcast})
                    bench.require(gives_up(bench, mgid), "no FullMember of " + text(mgid) + " any more",
                                  "still at the SA");
                bench.step("It comes up again");
                bench.dut.comes_up();
            }
        },
};

}  // namespace ipoib::conformance
