// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case unheld_states_cannot_be_left{
    .id = "IPOIB-IBA-15.2.5.17-INV-001",
    .title = "A port cannot leave with a join state that it has not",
    .checks = {&iba::leave_of_what_is_not_held},
    .pass_if = "the SA refuses the leave of a stranger and of other join states than were joined; the group stays",
    .tags = {"sa"},
    .impact = Impact::link,
    .subject = Subject::sa,
    .steps =
        [](Bench& bench) {
            const auto group = bench.mgid_of(bench.fresh_group4());
            bench.step("A group is left that does not exist");
            bench.sa.require_refusal(bench.sa.ask_to_leave(group, JoinState::full_member));
            bench.sa.join(group, JoinState::full_member);
            for (const auto states : {JoinState::non_member, JoinState::send_only_non_member,
                                      JoinState::non_member | JoinState::send_only_non_member}) {
                bench.step("A FullMember leaves with JoinState " + std::to_string(static_cast<int>(states)));
                bench.sa.require_refusal(bench.sa.ask_to_leave(group, states));
                bench.require(bench.sa.group(group).has_value(), "the group as it was", "no group");
            }
            bench.step("It leaves as FullMember");
            bench.precondition(bench.sa.ask_to_leave(group, JoinState::full_member).is_ok(), "the SA lets it leave");
        },
};

}  // namespace ipoib::conformance
