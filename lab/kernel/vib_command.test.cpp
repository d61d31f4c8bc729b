// SPDX-License-Identifier: GPL-2.0-or-later
#include "catch2.hpp"
#include "lab/kernel/vib_pure.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace {

std::optional<vib_command> command_of(std::string_view line) {
    // A buffer without a terminator, so that a sanitizer sees whoever reads behind it.
    const std::vector<char> octets(line.begin(), line.end());
    vib_command command;
    if (!vib_command_parse(&command, octets.data(), octets.size())) return {};
    return command;
}

TEST_CASE("Command: a link goes down and up") {
    const auto down = command_of("link hca0 down"), up = command_of("link sw0 up");
    REQUIRE((down && up));
    CHECK(down->kind == VIB_COMMAND_LINK_DOWN);
    CHECK(std::string{down->name} == "hca0");
    CHECK(up->kind == VIB_COMMAND_LINK_UP);
    CHECK(std::string{up->name} == "sw0");
}

TEST_CASE("Command: each fault has a direction and a number") {
    struct Row {
        const char* word;
        vib_command_kind kind;
        unsigned most;
    };
    for (const auto& [word, kind, most] :
         {Row{"drop", VIB_COMMAND_DROP, 1000}, Row{"duplicate", VIB_COMMAND_DUPLICATE, 1000},
          Row{"corrupt", VIB_COMMAND_CORRUPT, 1000}, Row{"delay", VIB_COMMAND_DELAY, 60000}}) {
        const auto line = [&, name = std::string{word}](const char* direction, const std::string& number) {
            return std::string{"fault raw1 "}.append(direction).append(" ").append(name).append(" ").append(number);
        };
        CAPTURE(word);
        const auto in = command_of(line("in", "0")), out = command_of(line("out", std::to_string(most)));
        REQUIRE((in && out));
        CHECK(in->kind == kind);
        CHECK(in->is_inward);
        CHECK(in->value == 0);
        CHECK_FALSE(out->is_inward);
        CHECK(out->value == most);
        CHECK_FALSE(command_of(line("out", std::to_string(most + 1))));
        CHECK_FALSE(command_of(line("both", "1")));
        for (const char* number : {"-1", "+1", "1.5", "0x10", "ten", "4294967297", "99999999999999999999"})
            CHECK_FALSE(command_of(line("in", number)));
    }
}

TEST_CASE("Command: faults are taken away") {
    const auto off = command_of("fault raw0 off");
    REQUIRE(off);
    CHECK(off->kind == VIB_COMMAND_FAULT_OFF);
}

TEST_CASE("Command: blanks between words do not count") { CHECK(command_of("  link\t hca1   up ")); }

TEST_CASE("Command: anything else is refused whole") {
    for (const char* line :
         {"", " ", "link", "link hca0", "link hca0 sideways", "link hca0 up now", "links hca0 up", "LINK hca0 up",
          "fault hca0", "fault hca0 in", "fault hca0 in drop", "fault hca0 in lose 3", "fault hca0 in drop 3 4",
          "fault hca0 off now", "fault hca0 off now please", "link a-name-of-sixteen up", "link hca0 up\n"})
        CHECK_FALSE(command_of(line));
    CHECK(command_of("link a-name-of-fifte up"));
    using namespace std::string_view_literals;
    CHECK_FALSE(command_of("link hca0\0x up"sv));
    CHECK_FALSE(command_of("link hca0 up\0"sv));
}

TEST_CASE("Command: no beginning of a command is taken for another") {
    const std::string_view line = "fault hca0 in drop 250";
    for (std::size_t length = 0; length < line.size(); ++length) {
        const auto command = command_of(line.substr(0, length));
        CAPTURE(length);
        // Cut within its number it is a command with a smaller one.
        REQUIRE(command.has_value() == (length > line.find('2')));
    }
}

}  // namespace
