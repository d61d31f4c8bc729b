// SPDX-License-Identifier: GPL-2.0-or-later
// What is near a word, and what is not.
#include "base/nearest.hpp"

#include "catch2.hpp"

using namespace ipoib;

namespace {

std::string asked(std::string_view word, const std::vector<std::string_view>& names) {
    return did_you_mean(word, names, [](std::string_view name) { return name; });
}

}  // namespace

TEST_CASE("letters apart: added, taken away, replaced, swapped; case does not count") {
    CHECK(letters_apart("check", "CHECK") == 0);
    CHECK(letters_apart("chek", "check") == 1);
    CHECK(letters_apart("chekc", "check") == 1);
    CHECK(letters_apart("checks", "check") == 1);
    CHECK(letters_apart("chack", "check") == 1);
    CHECK(letters_apart("", "abc") == 3);
    CHECK(letters_apart("abc", "") == 3);
    CHECK(letters_apart("kitten", "sitting") == 3);
}

TEST_CASE("did you mean: the nearest names, three at most, each once") {
    CHECK(asked("chekc", {"run", "check", "audit"}) == "; did you mean 'check'?");
    CHECK(asked("RFC4391-6-2", {"RFC4391-6-01", "RFC4391-6-02"}) == "; did you mean 'RFC4391-6-02'?");
    CHECK(asked("abcx", {"abcd", "abce", "abcd"}) == "; did you mean 'abcd' or 'abce'?");
    CHECK(asked("abcx", {"abc1", "abc2", "abc3", "abc4"}) == "; did you mean 'abc1', 'abc2' or 'abc3'?");
}

TEST_CASE("did you mean: what begins with the word, where nothing is nearer") {
    CHECK(asked("maps", {"maps-32-bits", "arp-silent"}) == "; did you mean 'maps-32-bits'?");
    CHECK(asked("map", {"maps-32-bits", "mat"}) == "; did you mean 'mat'?");
    CHECK(asked("ma", {"maps-32-bits"}).empty());
}

TEST_CASE("did you mean: nothing where nothing is near, and nothing for what is long") {
    CHECK(asked("zzzz", {"check", "run"}).empty());
    CHECK(asked("", {"check"}).empty());
    CHECK(asked("x", {"y"}).empty());
    CHECK(asked(std::string(100, 'a'), {std::string_view("a")}).empty());
}
