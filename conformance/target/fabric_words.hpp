// SPDX-License-Identifier: GPL-2.0-or-later
// Taking apart what follows the scheme in --fabric: words with commas between.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

namespace ipoib::conformance {

/// The words between the commas, in order; the first one also where it is empty.
template <class Take>
void for_each_word(std::string_view list, const Take& take) {
    while (true) {
        const auto comma = list.find(',');
        take(list.substr(0, comma));
        if (comma == std::string_view::npos) return;
        list.remove_prefix(comma + 1);
    }
}

/// What follows the name ("pkey="), if the word begins with it.
[[nodiscard]] std::optional<std::string_view> value_of(std::string_view word, std::string_view name) noexcept;

/// Throws std::invalid_argument for what is no number, or more than the most, with the name up to its "=".
[[nodiscard]] std::uint64_t number_of(std::string_view name, std::string_view text,
                                      std::uint64_t most = std::numeric_limits<std::uint64_t>::max());

}  // namespace ipoib::conformance
