// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case exhaustion_harms_nobody{
    .id = "IPOIB-IBA-15.2.5.17-INO-001",
    .title = "An SA without room for another group refuses it and keeps the others",
    .checks = {&iba::no_room_for_group, &rfc4391::last_full_member_leaves},
    .pass_if =
        "when the SA refuses to create a further group, it has not created it, the first group is as it was, and in "
        "the "
        "place of one that ends it creates another",
    .tags = {"sa", "exhaustion", "tenant"},
    .impact = Impact::fabric,
    .subject = Subject::sa,
    .lasts_at_most = 120s,
    .steps =
        [](Bench& bench) {
            constexpr int most_groups = 2048;
            bench.step("Groups are created until the SA refuses one", iba::no_room_for_group);
            const auto first = bench.sa.join(bench.mgid_of(bench.fresh_group4()), JoinState::full_member);
            const auto before = bench.sa.group(first.mgid);
            bench.precondition(before.has_value(), "the SA has the first group");
            auto record = bench.sa.new_group_record();
            auto last = first.mgid;
            int created = 1;
            auto answer = bench.sa.ask_to_join(record, bench.sa.creation_mask());
            for (; answer.is_ok() && created < most_groups; ++created) {
                last = record[McMemberRecord::mgid];
                record = bench.sa.new_group_record();
                answer = bench.sa.ask_to_join(record, bench.sa.creation_mask());
            }
            const auto still = bench.sa.group(first.mgid);
            bench.require(still && still->record.octets == before->record.octets, "the first group as it was",
                          still ? "another record" : "no group");
            if (answer.is_ok()) bench.not_applicable("this SA has room for more groups than the tester asks for");
            bench.sa.require_refusal(answer);
            bench.note(std::to_string(created) + " groups were created before");
            bench.require(!bench.sa.group(record[McMemberRecord::mgid]), "no new group", "the group was created");

            bench.step("One group ends: there is room for another", rfc4391::last_full_member_leaves);
            bench.sa.leave(last);
            bench.require(!bench.sa.group(last), "the group is gone", "it is still there");
            bench.sa.require_grant(bench.sa.ask_to_join(record, bench.sa.creation_mask()));
        },
};

}  // namespace ipoib::conformance
