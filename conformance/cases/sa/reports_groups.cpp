// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case created_and_deleted_groups_are_reported{
    .id = "IPOIB-4392-1.3.2.3-VAL-002",
    .title = "The SA reports groups that are created and deleted to who asks for it",
    .checks = {&rfc4392::group_trap_reports},
    .pass_if =
        "the subscriber hears of a new group by trap 66 and of its end by trap 67, each with its MGID; after the end "
        "of "
        "its subscription it hears nothing",
    .tags = {"sa", "trap"},
    .impact = Impact::link,
    .needs = Ability::reports,
    .subject = Subject::sa,
    .lasts_at_most = 20s,
    .steps =
        [](Bench& bench) {
            using namespace trap;
            bench.step("The tester subscribes to traps 66 and 67 of all groups");
            bench.sa.require_grant(bench.sa.subscribe(multicast_group_created));
            bench.sa.require_grant(bench.sa.subscribe(multicast_group_deleted));
            bench.step("A group is created");
            const auto group = bench.sa.join(bench.mgid_of(bench.fresh_group4()), JoinState::full_member).mgid;
            bench.require(bench.sa.reports(multicast_group_created, group, within(2s)),
                          "a report of trap 66 with " + text(group), "none");
            bench.step("Its last FullMember leaves");
            bench.sa.leave(group);
            if (!bench.sa.group(group))
                bench.require(bench.sa.reports(multicast_group_deleted, group, within(2s)),
                              "a report of trap 67 with " + text(group), "none");
            bench.step("The tester subscribes to one group only");
            const auto other = bench.mgid_of(bench.fresh_group4());
            bench.note("of one MGID: " + status_text(bench.sa.subscribe(multicast_group_created, other)));
            bench.step("The subscriptions end");
            bench.sa.unsubscribe(multicast_group_created, other);
            bench.sa.require_grant(bench.sa.unsubscribe(multicast_group_created));
            bench.sa.require_grant(bench.sa.unsubscribe(multicast_group_deleted));
            // A busy SA may have taken the same subscription twice: the tester asks again when an answer is late.
            constexpr int most_repeats = 2;
            for (int i = 0; i < most_repeats && bench.sa.unsubscribe(multicast_group_created).is_ok(); ++i) continue;
            bench.sa.join(other, JoinState::full_member);
            bench.require(!bench.sa.reports(multicast_group_created, other, within(2s)), "no report",
                          "a report of trap 66");
        },
};

}  // namespace ipoib::conformance
