// SPDX-License-Identifier: GPL-2.0-or-later
#include "reports/file.hpp"

#include <fstream>

#include "catch2.hpp"
#include "temporary_folder.hpp"

using namespace ipoib::reports;

TEST_CASE("Reading: the whole file up to the limit, a larger one is refused") {
    const ipoib::TemporaryFolder folder;
    std::ofstream(folder / "a") << std::string(100'000, 'x');
    const auto whole = read_whole(folder / "a", 100'000);
    REQUIRE(whole);
    CHECK(whole->size() == 100'000);
    CHECK_THAT(read_whole(folder / "a", 99'999).error, ContainsSubstring("larger than 99999 octets"));
    CHECK_THAT(read_whole(folder / "b", 10).error, ContainsSubstring("b: cannot be opened"));
    CHECK_THAT(read_whole(folder.path(), 10).error, ContainsSubstring("cannot be read"));
}
