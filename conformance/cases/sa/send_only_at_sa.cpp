// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case send_only_members_do_not_count{
    .id = "IPOIB-4391-10-VAL-009",
    .title = "A SendOnlyNonMember neither creates a group nor keeps it",
    .checks = {&rfc4391::send_only_member_semantics, &rfc4391::last_full_member_leaves,
               &rfc4392::send_only_member_routing, &rfc4392::deletion_after_last_full_member,
               &udmc::memberless_group_deleted},
    .pass_if = "the SA refuses to create a group for a SendOnlyNonMember; with the last FullMember the group goes",
    .tags = {"sa", "egress"},
    .impact = Impact::link,
    .subject = Subject::sa,
    .steps =
        [](Bench& bench) {
            constexpr auto send_only = static_cast<std::uint8_t>(JoinState::send_only_non_member);
            bench.step("A SendOnlyNonMember asks for a group that does not exist", rfc4391::send_only_member_semantics,
                       rfc4392::send_only_member_routing);
            const auto missing = bench.sa.new_group_record().set(McMemberRecord::join_state, send_only);
            bench.sa.require_refusal(bench.sa.ask_to_join(missing, bench.sa.creation_mask()));
            bench.require(!bench.sa.group(missing[McMemberRecord::mgid]), "no new group", "the group was created");

            bench.step("The last FullMember leaves", rfc4391::last_full_member_leaves,
                       rfc4392::deletion_after_last_full_member, udmc::memberless_group_deleted);
            const auto alone = bench.mgid_of(bench.fresh_group4());
            bench.sa.join(alone, JoinState::full_member);
            bench.precondition(bench.sa.group(alone).has_value(), "the group is there");
            bench.sa.leave(alone);
            bench.require(!bench.sa.group(alone), "the group is gone", "it is still there");
            bench.precondition(!bench.sa.group(alone), "groups go when the last FullMember leaves");

            bench.step("The last FullMember leaves, a SendOnlyNonMember stays", rfc4391::send_only_member_semantics,
                       rfc4392::send_only_member_routing);
            const auto group = bench.mgid_of(bench.fresh_group4());
            bench.sa.join(group, JoinState::full_member);
            bench.sa.join(group, JoinState::send_only_non_member);
            bench.precondition(bench.sa.group(group).has_value(), "the group is there");
            bench.precondition(bench.sa.ask_to_leave(group, JoinState::full_member).is_ok(),
                               "the FullMember can leave");
            bench.require(!bench.sa.group(group), "the group is gone", "it is still there");
        },
};

}  // namespace ipoib::conformance
