// SPDX-License-Identifier: GPL-2.0-or-later
// In which order the cases, or exchanges, of a run follow each other: what one leaves behind in a DUT another one
// meets.
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
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
/// Whatever is in declared order, put in this one: neither std::shuffle nor a distribution gives the same with every
/// library.
template <class Each>
void put_in(const Order& order, std::vector<Each>& all) {
    if (!order.seed) return;
    std::mt19937_64 random{*order.seed};
    for (auto left = all.size(); left > 1; --left) std::swap(all[left - 1], all[random() % left]);
}

}  // namespace ipoib::conformance
