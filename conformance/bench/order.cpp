// SPDX-License-Identifier: GPL-2.0-or-later
// Shuffles cases by a seed.
#include "conformance/bench/order.hpp"

#include <charconv>
#include <random>
#include <utility>

namespace ipoib::conformance {
namespace {

constexpr std::string_view declared = "declared", by_seed = "seed=";

}  // namespace

std::string text(const Order& order) {
    return order.seed ? std::string(by_seed) + std::to_string(*order.seed) : std::string(declared);
}

std::optional<Order> order_of(std::string_view text) {
    if (text == declared) return Order{};
    if (!text.starts_with(by_seed)) return {};
    text.remove_prefix(by_seed.size());
    std::uint64_t seed = 0;
    const auto* const end = text.data() + text.size();
    const auto [rest, wrong] = std::from_chars(text.data(), end, seed);
    if (wrong != std::errc{} || rest != end) return {};
    return Order{seed};
}

/// Neither std::shuffle nor a distribution gives the same with every library.
void put_in(const Order& order, std::vector<const Case*>& cases) {
    if (!order.seed) return;
    std::mt19937_64 random{*order.seed};
    for (auto left = cases.size(); left > 1; --left) std::swap(cases[left - 1], cases[random() % left]);
}

}  // namespace ipoib::conformance
