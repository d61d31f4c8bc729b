// SPDX-License-Identifier: GPL-2.0-or-later
// An order in words.
#include "conformance/bench/order.hpp"

#include <charconv>

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

}  // namespace ipoib::conformance
