// SPDX-License-Identifier: GPL-2.0-or-later
// What a runner would obey does not get through, and all else does.
#include "base/job_log.hpp"

#include "catch2.hpp"

#include <random>

using namespace ipoib;

TEST_CASE("without_commands: what begins a command of a runner is written by number") {
    CHECK(without_commands("::error::x") == "\\x3a:error::x");
    CHECK(without_commands("a\n \t::add-mask::x") == "a\n \t\\x3a:add-mask::x");
    CHECK(without_commands("a\r::x::") == "a\r\\x3a:x::");
    CHECK(without_commands("a ##[error]x") == "a \\x23#[error]x");
    CHECK(without_commands("##vso[task.complete]###[x] ##TeamCity[y]") ==
          "\\x23#vso[task.complete]#\\x23#[x] \\x23#TeamCity[y]");
    // A no-break space is trimmed, a zero-width one is no difference to who compares by culture.
    CHECK(without_commands("\xc2\xa0::x::") == "\xc2\xa0\\x3a:x::");
    CHECK(without_commands(":\xe2\x80\x8b:x::") == "\\x3a\xe2\x80\x8b:x::");
    CHECK(without_commands("#\xe2\x80\x8b#v\xe2\x80\x8bso[x]") == "\\x23\xe2\x80\x8b#v\xe2\x80\x8bso[x]");
}

TEST_CASE("without_commands: readers of the notation get the same text back") {
    CHECK(without_commands("##[x", Notation::json) == "\\u0023#[x");
    CHECK(without_commands("::x", Notation::toml) == "\\u003a:x");
    CHECK(without_commands("::x ##[y", Notation::xml) == "&#58;:x &#35;#[y");
}

TEST_CASE("without_commands: everything else stays as it is") {
    for (const std::string text : {"", "a ::1 b", "fe80::1", " : :", "# a", "## [a](b)", "##", "#[x]", "a: :b"})
        CHECK(without_commands(text) == text);
}

TEST_CASE("without_commands: nothing gets through, however it is put together, and twice is as good as once") {
    std::mt19937_64 random{11};
    const std::string pieces[]{":", "::", "#", "##", "[", "vso[", "teamcity[", " ", "\n", "\r", "\t", "x", "\xc2\xa0"};
    for (unsigned round = 0; round < 20000; ++round) {
        std::string text;
        for (auto count = random() % 12; count > 0; --count) text += pieces[random() % std::size(pieces)];
        const auto safe = without_commands(text);
        CAPTURE(text, safe);
        bool is_begin = true;
        for (std::size_t at = 0; at < safe.size(); ++at) {
            const auto rest = std::string_view(safe).substr(at);
            for (const std::string_view command : {"##[", "##vso[", "##teamcity["}) REQUIRE(!rest.starts_with(command));
            if (is_begin) REQUIRE(!rest.starts_with("::"));
            const char c = safe[at];
            is_begin = c == '\n' || c == '\r' || (is_begin && (c == ' ' || c == '\t' || c == '\xc2' || c == '\xa0'));
        }
        REQUIRE(without_commands(safe) == safe);
    }
}
