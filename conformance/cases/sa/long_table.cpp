// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"
#include "protocol/wire/rmpp.hpp"

#include <algorithm>

namespace ipoib::conformance {

const Case long_tables_are_whole{
    .id = "IPOIB-IBA-13.6-VAL-001",
    .title = "A table that needs several segments holds every group once",
    .checks = {&iba::table_is_complete},
    .pass_if = "of twenty groups that the tester has created each is in the table of all groups, and once",
    .tags = {"sa"},
    .impact = Impact::link,
    .needs = Ability::long_tables,
    .subject = Subject::sa,
    .lasts_at_most = 20s,
    .steps =
        [](Bench& bench) {
            using Member = McMemberRecord;
            constexpr std::size_t groups = 20;
            bench.step("Twenty groups are created");
            std::vector<Gid> mgids;
            while (mgids.size() < groups)
                mgids.push_back(bench.sa.join(bench.mgid_of(bench.fresh_group4()), JoinState::full_member).mgid);
            bench.step("The SA is asked for all groups");
            const auto table = bench.sa.ask({.method = Method::get_table, .attribute = attribute::mc_member_record});
            bench.sa.require_grant(table);
            std::vector<Gid> told;
            const auto rest = for_each_record<Member>(
                table.data, table.record_size, [&](View<Member> record) { told.push_back(record[Member::mgid]); });
            bench.require(rest.empty(), "whole records", std::to_string(rest.size()) + " octets that are no record");
            for (const auto& mgid : mgids)
                bench.require(std::ranges::count(told, mgid) == 1, text(mgid) + " once",
                              std::to_string(std::ranges::count(told, mgid)) + " times");
        },
};

}  // namespace ipoib::conformance
