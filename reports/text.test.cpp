// SPDX-License-Identifier: GPL-2.0-or-later
// Text from outside is made visible, cut and wrapped without breaking a character.
#include "reports/text.hpp"

#include "catch2.hpp"
#include "reports/samples.hpp"

using namespace ipoib::reports;

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

TEST_CASE("printable: what XML forbids or a terminal obeys is shown") {
    CHECK(printable(std::string("\x01\0\x1b[31m", 7)) == "\\x01\\x00\\x1b[31m");
    CHECK(printable("\x7f\xc2\x9b") == "\\x7f\\x9b");
    CHECK(printable("\xef\xbf\xbe\xef\xbf\xbf\xe2\x80\xae") == "\\ufffe\\uffff\\u202e");
    CHECK(printable("a\r\n\tb") == "a\\x0d\n\tb");
}

TEST_CASE("printable: joined lines have single blanks and none at the ends") {
    CHECK(printable("  a \n\t b  \n", Lines::join) == "a b");
    CHECK(printable("\n", Lines::join).empty());
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

TEST_CASE("wrapped: lines stay within the width behind the indent, words stay whole") {
    CHECK(wrapped("one two three", 2, 10) == "one two\n  three");
    CHECK(wrapped("aaaaaaaaaaaaaaaa b", 4, 10) == "aaaaaaaaaaaaaaaa\n    b");
    CHECK(wrapped("a\tb", 3, 10) == "a b");
    CHECK(wrapped("a\nb", 3, 10) == "a\n   b");
    CHECK(wrapped("a\n\nb\n", 1, 10) == "a\n \n b");
    CHECK(wrapped("", 4, 10).empty());
}

TEST_CASE("columns: one a character") {
    CHECK(columns("\xe2\x82\xac"
                  "ab\xff") == 4);
}
