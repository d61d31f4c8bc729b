// SPDX-License-Identifier: GPL-2.0-or-later
// Text is wrapped without breaking a word.
#include "base/wrapped.hpp"

#include "catch2.hpp"

using namespace ipoib;

TEST_CASE("wrapped: lines stay within the width behind the indent, words stay whole") {
    CHECK(wrapped("one two three", 2, 10) == "one two\n  three");
    CHECK(wrapped("aaaaaaaaaaaaaaaa b", 4, 10) == "aaaaaaaaaaaaaaaa\n    b");
    CHECK(wrapped("a\tb", 3, 10) == "a b");
    CHECK(wrapped("a\nb", 3, 10) == "a\n   b");
    CHECK(wrapped("a\n\nb\n", 1, 10) == "a\n \n b");
    CHECK(wrapped("", 4, 10).empty());
}

TEST_CASE("fitted: a line goes on below its last column") {
    const std::string words = "one two three four five six";
    CHECK(fitted("id      " + words, 60) == "id      " + words);
    CHECK(fitted("id      " + words, 30) == "id      one two three four\n        five six");
    CHECK(fitted("id  must  " + words, 30) == "id  must  one two three four\n          five six");
    // No columns, or too little room beside them.
    CHECK(fitted("  id: " + words, 20) == "  id: one two\n    three four five\n    six");
    CHECK(fitted("id            " + words, 30) == "id\n  one two three four five six");
    CHECK(fitted(std::string(24, ' ') + words, 40) ==
          std::string(24, ' ') + "one two three\n" + std::string(24, ' ') + "four five six");
    CHECK(fitted("  " + std::string(40, 'x') + " y", 30) == "  " + std::string(40, 'x') + "\n    y");
    CHECK(fitted("   ", 1) == "   ");
    CHECK(fitted("", 1).empty());
}
