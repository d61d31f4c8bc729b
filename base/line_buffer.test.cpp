// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/line_buffer.hpp"

#include "catch2.hpp"

#include <vector>

using ipoib::LineBuffer;

namespace {

std::vector<std::string> all_of(LineBuffer& lines) {
    std::vector<std::string> all;
    while (auto line = lines.next()) all.push_back(std::move(*line));
    return all;
}

}  // namespace

TEST_CASE("Lines: they are the same in whatever pieces the stream comes") {
    const std::string stream("one\n\ntw\0o\r\nthree", 16);
    for (std::size_t size = 1; size <= stream.size(); ++size) {
        LineBuffer lines;
        std::vector<std::string> all;
        for (std::size_t at = 0; at < stream.size(); at += size) {
            lines.feed(std::string_view(stream).substr(at, size));
            for (auto& line : all_of(lines)) all.push_back(std::move(line));
        }
        CAPTURE(size);
        CHECK(all == std::vector<std::string>{"one", "", std::string("tw\0o\r", 5)});
        CHECK(lines.rest() == "three");
    }
}

TEST_CASE("Lines: the rest is what was not given out") {
    LineBuffer lines;
    CHECK_FALSE(lines.next());
    lines.feed("one\ntwo\nth");
    CHECK(lines.next() == "one");
    CHECK(lines.rest() == "two\nth");
    lines.feed("ree\n");
    CHECK(all_of(lines) == std::vector<std::string>{"two", "three"});
    CHECK(lines.rest().empty());
}
