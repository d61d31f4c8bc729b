// SPDX-License-Identifier: GPL-2.0-or-later
// Text from outside is made visible, and one line.
#include "base/one_line.hpp"

#include "base/utf8.hpp"

#include "catch2.hpp"

using namespace ipoib;

TEST_CASE("printable: what XML forbids or a terminal obeys is shown") {
    CHECK(printable(std::string("\x01\0\x1b[31m", 7)) == "\\x01\\x00\\x1b[31m");
    CHECK(printable("\x7f\xc2\x9b") == "\\x7f\\x9b");
    CHECK(printable("\xef\xbf\xbe\xef\xbf\xbf\xe2\x80\xae") == "\\ufffe\\uffff\\u202e");
    CHECK(printable("\xe2\x80\x8f\xd8\x9c\xe2\x80\x8b\xef\xbb\xbf\xc2\xad") == "\\u200f\\u061c\\u200b\\ufeff\\xad");
    CHECK(printable("\xf3\xa0\x80\x81\xe2\x80\x90") == "\\U000e0001\xe2\x80\x90");
    CHECK(printable("a\r\n\tb") == "a\\x0d\n\tb");
}

TEST_CASE("printable: joined lines have single blanks and none at the ends") {
    CHECK(printable("  a \n\t b  \n", Lines::join) == "a b");
    CHECK(printable("\n", Lines::join).empty());
}

TEST_CASE("one_line: no control character, no end of a line and no stray octet gets through") {
    for (char32_t c = 0; c < 0xa0; ++c) {
        const bool is_blank = c == '\n' || c == '\t' || c == ' ';
        if (!is_blank && c >= 0x20 && c < 0x7f) continue;
        CAPTURE(static_cast<unsigned>(c));
        const std::string octet(1, static_cast<char>(c));
        CHECK(one_line("a" + (c < 0x80 ? octet : "\xc2" + octet) + "b") ==
              (is_blank ? "a b" : "a" + escaped(octet) + "b"));
        if (c >= 0x80) CHECK(one_line("a" + octet) == "a" + escaped(octet));
    }
    CHECK(one_line("a\r\nb") == "a\\x0d b");
    CHECK(one_line("a\xe2\x80\xa8"
                   "b\xe2\x80\xa9") == "a\\u2028b\\u2029");
    CHECK(one_line("\xc3\xa9 \xf0\x9f\x98\x80") == "\xc3\xa9 \xf0\x9f\x98\x80");
}

TEST_CASE("one_line: it is as long as asked at most, and made visible before it is cut") {
    CHECK(one_line(std::string(2000, 'a')).size() == longest_line);
    CHECK(one_line(std::string(100, 'a'), 20) == std::string(11, 'a') + "... (cut)");
    CHECK(one_line(std::string(6, '\x1b'), 20).size() <= 20);
    CHECK(one_line("a" + std::string(100, ' ') + "b", 20) == "a b");
}

TEST_CASE("one_line: what is cut is the beginning of the whole") {
    const std::string text = " a \x1b\xff \xe2\x82\xac\xe2\x80\xae  \xf0\x9f\x98\x80\t\n b\xf3\xa0\x80\x81   \xc3 ";
    for (std::size_t size = 0; size <= text.size(); ++size)
        for (std::size_t limit = 0; limit < 90; ++limit) {
            CAPTURE(size, limit);
            const auto part = text.substr(0, size);
            REQUIRE(one_line(part, limit) == clipped(printable(part, Lines::join), limit));
            const auto whole = valid_utf8(part);
            REQUIRE((whole.size() <= limit) == (clipped(part, limit) == whole));
        }
}
