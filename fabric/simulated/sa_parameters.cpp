// SPDX-License-Identifier: GPL-2.0-or-later
// MTUs and rates by selector, with the choices of OpenSM.
#include "fabric/simulated/sa_parameters.hpp"

#include <algorithm>

namespace ipoib::fabric::sa {
using namespace wire;

namespace {

/// Rate codes in the order of speed.
constexpr std::array<std::uint8_t, 24> rates_by_speed{2, 5,  3,  11, 6,  15, 19, 4,  7,  20, 12, 8,
                                                      9, 16, 13, 10, 14, 17, 18, 21, 22, 23, 24, 25};
static_assert(rates_by_speed.size() == rate_names.size());

unsigned rate_rank(std::uint8_t code) noexcept {
    const auto* const at = std::find(rates_by_speed.begin(), rates_by_speed.end(), code);
    return at == rates_by_speed.end() ? 0 : static_cast<unsigned>(at - rates_by_speed.begin()) + 1;
}
std::uint8_t rate_code(unsigned rank) noexcept {
    return rank == 0 || rank > rates_by_speed.size() ? std::uint8_t{0} : rates_by_speed[rank - 1];
}

unsigned mtu_rank(std::uint8_t code) noexcept { return code <= mtu_names.size() ? code : 0u; }
std::uint8_t mtu_code(unsigned rank) noexcept {
    return rank <= mtu_names.size() ? static_cast<std::uint8_t>(rank) : std::uint8_t{0};
}

std::optional<std::uint8_t> valid(const Quantity& quantity, unsigned rank) noexcept {
    const auto code = quantity.code(rank);
    if (code == 0) return std::nullopt;
    return code;
}

}  // namespace

const Quantity mtu_quantity{mtu_rank, mtu_code};
const Quantity rate_quantity{rate_rank, rate_code};

bool fulfils(const Quantity& quantity, std::uint8_t selector, std::uint8_t asked, std::uint8_t code) noexcept {
    const auto limit = quantity.rank(asked), rank = quantity.rank(code);
    switch (selector) {
        case selector::greater:
            return rank > limit;
        case selector::less:
            return rank < limit;
        case selector::exactly:
            return rank == limit;
        default:
            return true;
    }
}

std::optional<std::uint8_t> choose_for_group(const Quantity& quantity, std::uint8_t selector, std::uint8_t asked,
                                             std::uint8_t port) noexcept {
    const auto limit = quantity.rank(asked), capable = quantity.rank(port);
    switch (selector) {
        case selector::greater:
            return limit < capable ? valid(quantity, capable) : std::nullopt;
        case selector::less:
            return limit == 0 ? std::nullopt : valid(quantity, std::min(capable, limit - 1));
        case selector::exactly:
            return valid(quantity, limit);
        default:
            return valid(quantity, capable);
    }
}

std::optional<std::uint8_t> choose_for_path(const Quantity& quantity, std::uint8_t selector, std::uint8_t asked,
                                            std::uint8_t path) noexcept {
    const auto limit = quantity.rank(asked), capable = quantity.rank(path);
    // A path's MTU can be made smaller, its rate cannot.
    const bool can_be_less = &quantity == &mtu_quantity;
    switch (selector) {
        case selector::greater:
            return capable > limit ? valid(quantity, capable) : std::nullopt;
        case selector::less:
            return limit == 0 ? std::nullopt : valid(quantity, std::min(capable, limit - 1));
        case selector::exactly:
            return limit == capable || (can_be_less && limit < capable) ? valid(quantity, limit) : std::nullopt;
        default:
            return valid(quantity, capable);
    }
}

std::uint8_t lesser(const Quantity& quantity, std::uint8_t one, std::uint8_t other) noexcept {
    return quantity.rank(one) <= quantity.rank(other) ? one : other;
}

}  // namespace ipoib::fabric::sa
