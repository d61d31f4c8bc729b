// SPDX-License-Identifier: GPL-2.0-or-later
// In which order the cases of a run follow each other: what one leaves behind in a DUT another one meets.
#pragma once

#include "conformance/bench/case.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ipoib::conformance {

/// As they are declared, by id; or shuffled, by a seed the same everywhere.
struct Order {
    std::optional<std::uint64_t> seed{};

    [[nodiscard]] bool is_declared() const noexcept { return !seed.has_value(); }
    friend bool operator==(const Order&, const Order&) = default;
};

/// "declared", "seed=7".
[[nodiscard]] std::string text(const Order& order);
/// What text() gives; nothing where it is no order.
[[nodiscard]] std::optional<Order> order_of(std::string_view text);
/// Cases in declared order, put in this one.
void put_in(const Order& order, std::vector<const Case*>& cases);

}  // namespace ipoib::conformance
