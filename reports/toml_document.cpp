// SPDX-License-Identifier: GPL-2.0-or-later
// Bounds on what toml++ is given.
#include "reports/toml_document.hpp"

#include <fmt/format.h>

#include "base/one_line.hpp"
#include "base/utf8.hpp"
#include "reports/toml_text.hpp"

namespace ipoib::reports {
namespace {

constexpr std::size_t longest_quote = 80;

/// The first line, from 1, with an octet that is no part of a UTF-8 character; 0 where there is none.
std::size_t line_of_no_utf8(std::string_view text) {
    std::size_t line = 1, found = 0;
    for_each_character(text, [&](const Character& character, std::string_view octets) {
        if (!character.is_legal && found == 0) found = line;
        if (octets == "\n") ++line;
    });
    return found;
}

}  // namespace

std::optional<toml::table> toml_document(std::string_view text, std::string_view source, Complaints& complaints) {
    // To toml++ it would be ASCII like all the rest.
    if (const auto line = line_of_no_utf8(text); line != 0) {
        complaints.add(line, "this is no UTF-8, which TOML is written in");
        return {};
    }
    if (const auto line = line_of_long_key(text); line != 0) {
        complaints.add(line, fmt::format("a key of more than {} parts", most_parts));
        return {};
    }
    try {
        return toml::parse(to_ascii_toml(text), source);
    } catch (const toml::parse_error& failure) {
        complaints.add(failure.source().begin.line, one_line(from_ascii_toml(failure.description()), longest_quote));
        return {};
    }
}

}  // namespace ipoib::reports
