// SPDX-License-Identifier: GPL-2.0-or-later
// A long list in a sentence.
#pragma once

#include <string>

namespace ipoib {

/// "a, b, c and 4 more": the first three, each as `name` has it.
template <class Items, class Name>
[[nodiscard]] std::string listed(const Items& items, Name name) {
    constexpr std::size_t most_named = 3;
    std::string words;
    std::size_t count = 0;
    for (const auto& item : items) {
        if (count == most_named) break;
        words += (count++ ? ", " : "") + name(item);
    }
    if (items.size() > most_named) words += " and " + std::to_string(items.size() - most_named) + " more";
    return words;
}

}  // namespace ipoib
