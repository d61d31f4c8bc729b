// SPDX-License-Identifier: GPL-2.0-or-later
// Bounds on what toml++ is given.
#include "reports/toml_document.hpp"

#include <fmt/format.h>

#include "base/one_line.hpp"
#include "reports/toml_text.hpp"

namespace ipoib::reports {
namespace {

constexpr std::size_t longest_quote = 80;

}  // namespace

std::optional<toml::table> toml_document(std::string_view text, std::string_view source, Complaints& complaints) {
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
