// SPDX-License-Identifier: GPL-2.0-or-later
#include "protocol/wire/medium.hpp"

#include "catch2.hpp"

#include <fstream>
#include <set>
#include <sstream>

using namespace ipoib::wire;

TEST_CASE("Media: a link type is found by its number, and has a name and an option of its own") {
    std::set<std::string_view> names, options;
    for (const auto& row : media()) {
        CHECK(find_medium(row.link_type) == &row);
        CHECK(&spec(row.medium) == &row);
        CHECK(names.insert(row.name).second);
        if (!row.option.empty()) CHECK(options.insert(row.option).second);
        // What cannot be made cannot be asked for, and what shows nothing is not made.
        CHECK(row.option.empty() == (row.shows == 0));
        if (row.make_head) CHECK_FALSE(row.option.empty());
    }
    CHECK_FALSE(find_medium(197));
    CHECK(find_medium(276)->medium == Medium::linux_sll2);
}

TEST_CASE("Media: the page on captures has a line for each that can be judged") {
    std::ostringstream page;
    page << std::ifstream{IPOIB_SOURCE_DIR "/docs/captures.md"}.rdbuf();
    for (const auto& row : media())
        if (row.shows != 0)
            CHECK_THAT(page.str(),
                       ContainsSubstring("| " + std::string(row.name) + " (" + std::to_string(row.link_type) + ") |"));
}
