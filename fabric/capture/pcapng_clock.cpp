// SPDX-License-Identifier: GPL-2.0-or-later
// Time in pcapng: draft-ietf-opsawg-pcapng, section 4.2, if_tsresol and if_tsoffset.
#include "fabric/capture/pcapng_format.hpp"

#include <algorithm>
#include <limits>

namespace ipoib::capture::pcapng {
namespace {

__extension__ using Wide = __int128;

constexpr std::uint8_t is_binary = 0x80, exponent_bits = 0x7f, nanoseconds = 9;
constexpr Wide ns_per_second = 1'000'000'000;

Wide decimal_to_ns(std::uint64_t ticks, unsigned exponent) noexcept {
    Wide ns = ticks;
    for (; exponent < nanoseconds; ++exponent) ns *= 10;
    for (; exponent > nanoseconds && ns != 0; --exponent) ns /= 10;
    return ns;
}

}  // namespace

std::int64_t Clock::to_ns(std::uint64_t ticks) const noexcept {
    using Limits = std::numeric_limits<std::int64_t>;
    constexpr std::uint64_t latest = Limits::max();
    if (resolution_ == nanoseconds && offset_s_ == 0) return static_cast<std::int64_t>(std::min(ticks, latest));
    const unsigned exponent = resolution_ & exponent_bits;
    Wide ns = resolution_ & is_binary ? Wide{ticks} * ns_per_second >> exponent : decimal_to_ns(ticks, exponent);
    ns += Wide{offset_s_} * ns_per_second;
    return static_cast<std::int64_t>(std::clamp(ns, Wide{Limits::min()}, Wide{Limits::max()}));
}

}  // namespace ipoib::capture::pcapng
