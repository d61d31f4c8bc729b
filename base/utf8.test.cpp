// SPDX-License-Identifier: GPL-2.0-or-later
// Text is read and cut without breaking a character.
#include "base/utf8.hpp"

#include "catch2.hpp"

using namespace ipoib;

TEST_CASE("valid_utf8: legal text stays, each stray octet is shown") {
    CHECK(valid_utf8("\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\n") == "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\n");
    CHECK(valid_utf8("a\xff\x62") == "a\\xffb");
    CHECK(valid_utf8("\xc3") == "\\xc3");
    CHECK(valid_utf8("\xe2\x82") == "\\xe2\\x82");
    CHECK(valid_utf8("\xc0\x80") == "\\xc0\\x80");
    CHECK(valid_utf8("\xe0\x82\x80") == "\\xe0\\x82\\x80");
    CHECK(valid_utf8("\xf0\x82\x82\xac") == "\\xf0\\x82\\x82\\xac");
    CHECK(valid_utf8("\xed\xa0\x80") == "\\xed\\xa0\\x80");
    CHECK(valid_utf8("\xf4\x90\x80\x80") == "\\xf4\\x90\\x80\\x80");
}

TEST_CASE("clipped: never longer than asked, never half a character") {
    CHECK(clipped("short", 5) == "short");
    CHECK(clipped(std::string(100, 'a'), 20) == std::string(11, 'a') + "... (cut)");
    std::string euros;
    for (int i = 0; i < 50; ++i) euros += "\xe2\x82\xac";
    for (std::size_t limit = 0; limit < 150; ++limit) {
        const auto cut = clipped(euros, limit);
        CAPTURE(limit);
        REQUIRE(cut.size() <= limit);
        REQUIRE(valid_utf8(cut) == cut);
    }
    CHECK(clipped(std::string(10, '\xff'), 20).size() <= 20);
}

TEST_CASE("columns: one a character") {
    CHECK(columns("\xe2\x82\xac"
                  "ab\xff") == 4);
}
