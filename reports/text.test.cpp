// SPDX-License-Identifier: GPL-2.0-or-later
// Words go through a shell as they are.
#include "reports/text.hpp"

#include "catch2.hpp"

using namespace ipoib::reports;

TEST_CASE("sh_word: quoted only where a shell would see more in it than a word") {
    CHECK(sh_word("captures/a-b_1.pcap") == "captures/a-b_1.pcap");
    CHECK(sh_word("") == "''");
    CHECK(sh_word("!tag:arp") == "'!tag:arp'");
    CHECK(sh_word("it's") == "'it'\\''s'");
    CHECK(sh_word("a\xff") == "$'a\\xff'");
}
