// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/sa/raw_request.hpp"

#include <algorithm>

namespace ipoib::conformance {

const Case unfinished_tables_hold_up_nobody{
    .id = "IPOIB-IBA-13.6-INO-001",
    .title = "Who leaves tables unfinished keeps them from nobody else",
    .checks = {&iba::table_is_complete},
    .pass_if =
        "while one port has asked for forty tables of several segments and acknowledges none, another gets the table "
        "of all groups, each once",
    .tags = {"sa", "exhaustion", "tenant"},
    .impact = Impact::link,
    .needs = Ability::two_ports | Ability::any_frame | Ability::long_tables,
    .subject = Subject::sa,
    .lasts_at_most = 60s,
    .steps =
        [](Bench& bench) {
            using M = McMemberRecord;
            constexpr std::size_t groups = 8;
            constexpr int unfinished = 40;
            auto& greedy = bench.tester.first();
            auto& other = bench.tester.second();
            bench.step("Eight groups are created");
            std::vector<Gid> mgids;
            while (mgids.size() < groups)
                mgids.push_back(other.join(bench.mgid_of(bench.fresh_group4()), JoinState::full_member).mgid);
            bench.step("A port asks for tables, and acknowledges nothing");
            const auto request =
                raw_request("GetTable of all groups", bench.tester.port(), Method::get_table, Bytes<M>{}, 0);
            for (int i = 0; i < unfinished; ++i) greedy.send(request);
            bench.step("Another port asks for the table");
            const auto table = other.ask({.method = Method::get_table, .attribute = attribute::mc_member_record});
            bench.require(table.is_ok(), "the table", status_text(table));
            std::vector<Gid> told;
            (void)for_each_record<M>(table.data, table.record_size,
                                     [&](View<M> record) { told.push_back(record[M::mgid]); });
            for (const auto& mgid : mgids)
                bench.require(std::ranges::count(told, mgid) == 1, text(mgid) + " once",
                              std::to_string(std::ranges::count(told, mgid)) + " times");
        },
};

}  // namespace ipoib::conformance
