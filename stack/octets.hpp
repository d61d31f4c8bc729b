// SPDX-License-Identifier: GPL-2.0-or-later
// Octets put behind one another.
#pragma once

#include "protocol/wire/field.hpp"

#include <vector>

namespace ipoib::stack {

template <class Header>
[[nodiscard]] std::vector<std::uint8_t> octets_of(const wire::Bytes<Header>& header) {
    return {header.octets.begin(), header.octets.end()};
}

inline void append(std::vector<std::uint8_t>& to, wire::Octets octets) {
    const auto size = to.size();
    to.resize(size + octets.size());
    for (std::size_t i = 0; i < octets.size(); ++i) to[size + i] = octets[i];
}

}  // namespace ipoib::stack
