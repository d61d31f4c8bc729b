// SPDX-License-Identifier: GPL-2.0-or-later
// Files of one line each, as the kernel writes them. What is not there, or is longer than any such line, is empty.
#pragma once

#include <charconv>
#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>

namespace ipoib::fabric {

[[nodiscard]] inline std::string line_of(const std::string& path) {
    constexpr std::size_t longest = 4096;
    std::ifstream file{path};
    std::string line(longest, '\0');
    file.read(line.data(), static_cast<std::streamsize>(line.size()));
    const auto count = static_cast<std::size_t>(file.gcount());
    line.resize(count < longest ? count : 0);
    return line.substr(0, line.find('\n'));
}

/// A whole number in decimal, or in hex behind 0x.
[[nodiscard]] inline std::optional<std::uint64_t> number_in(std::string_view text) {
    constexpr int hexadecimal = 16, decimal = 10;
    const bool is_hex = text.starts_with("0x");
    const auto digits = is_hex ? text.substr(2) : text;
    std::uint64_t number = 0;
    const auto read =
        std::from_chars(digits.data(), digits.data() + digits.size(), number, is_hex ? hexadecimal : decimal);
    if (read.ec != std::errc{} || read.ptr != digits.data() + digits.size()) return {};
    return number;
}

}  // namespace ipoib::fabric
