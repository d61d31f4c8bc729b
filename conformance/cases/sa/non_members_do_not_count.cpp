// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case non_members_do_not_count{
    .id = "IPOIB-4391-11-VAL-003",
    .title = "A NonMember neither creates a group nor keeps it",
    .checks = {&rfc4391::non_member_semantics, &rfc4392::non_member_routing},
    .pass_if = "the SA refuses to create a group for a NonMember; with the last FullMember the group goes",
    .tags = {"sa", "router"},
    .impact = Impact::link,
    .subject = Subject::sa,
    .steps =
        [](Bench& bench) {
            constexpr auto non_member = static_cast<std::uint8_t>(JoinState::non_member);
            bench.step("A NonMember asks for a group that does not exist");
            const auto missing = bench.sa.new_group_record().set(McMemberRecord::join_state, non_member);
            bench.sa.require_refusal(bench.sa.ask_to_join(missing, bench.sa.creation_mask()));
            bench.require(!bench.sa.group(missing[McMemberRecord::mgid]), "no new group", "the group was created");

            bench.step("A group goes with its last FullMember");
            const auto alone = bench.mgid_of(bench.fresh_group4());
            bench.sa.join(alone, JoinState::full_member);
            bench.sa.leave(alone);
            bench.precondition(!bench.sa.group(alone), "groups go when the last FullMember leaves");

            bench.step("The last FullMember leaves, a NonMember stays");
            const auto group = bench.mgid_of(bench.fresh_group4());
            bench.sa.join(group, JoinState::full_member);
            bench.sa.join(group, JoinState::non_member);
            bench.precondition(bench.sa.group(group).has_value(), "the group is there");
            bench.precondition(bench.sa.ask_to_leave(group, JoinState::full_member).is_ok(),
                               "the FullMember can leave");
            bench.require(!bench.sa.group(group), "the group is gone", "it is still there");
        },
};

}  // namespace ipoib::conformance
