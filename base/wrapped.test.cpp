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
