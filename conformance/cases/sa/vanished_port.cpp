// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case vanished_ports_are_pruned{
    .id = "IPOIB-UDMC-VAL-002",
    .title = "A port that vanishes is no member any longer",
    .checks = {&udmc::pruning},
    .pass_if = "the group whose only FullMember loses its link is gone within 30 seconds",
    .tags = {"sa"},
    .impact = Impact::fabric,
    .needs = Ability::two_ports | Ability::fabric_control,
    .subject = Subject::sa,
    .lasts_at_most = 90s,
    .steps =
        [](Bench& bench) {
            bench.step("A group goes with its last FullMember");
            auto& member = bench.tester.second();
            const auto alone = member.join(bench.mgid_of(bench.fresh_group4()), JoinState::full_member).mgid;
            member.ask_to_leave(alone, JoinState::full_member);
            bench.precondition(!bench.sa.group(alone), "groups go when the last FullMember leaves");

            bench.step("The only FullMember of a group loses its link");
            const auto group = member.join(bench.mgid_of(bench.fresh_group4()), JoinState::full_member).mgid;
            bench.precondition(bench.sa.group(group).has_value(), "the group is there");
            bench.fabric.change(SetPort{.port = {.guid = member.self().gid.interface_id()}, .is_up = false});
            bench.require(bench.sa.gives_up(group, within(30s)), "no group without its member", "the group");
        },
};

}  // namespace ipoib::conformance
