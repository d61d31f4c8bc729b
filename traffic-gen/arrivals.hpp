// SPDX-License-Identifier: GPL-2.0-or-later
// What numbers of packets that came tell of those that did not, or came twice, or late.
#pragma once

#include "protocol/wire/packet.hpp"
#include "traffic-gen/numbered.hpp"

#include <array>
#include <bitset>
#include <compare>
#include <cstdint>
#include <map>

namespace ipoib::traffic {

/// One flow: a run's packets from one sender to one receiver.
class FlowArrivals {
public:
    /// Back so far a number is known to have come or not; from farther back it is taken for late.
    static constexpr std::uint64_t window = 4096;

    void take(std::uint64_t number) noexcept;
    /// Numbers that are missing between the first that came and the highest.
    [[nodiscard]] std::uint64_t lost() const noexcept { return has_begun_ ? highest_ - first_ + 1 - different_ : 0; }
    [[nodiscard]] std::uint64_t different() const noexcept { return different_; }
    [[nodiscard]] std::uint64_t doubled() const noexcept { return doubled_; }
    [[nodiscard]] std::uint64_t overtaken() const noexcept { return overtaken_; }

private:
    std::bitset<window> came_;  ///< by number modulo the window, of the last `window` numbers
    std::uint64_t first_ = 0, highest_ = 0, different_ = 0, doubled_ = 0, overtaken_ = 0;
    bool has_begun_ = false;
};

class Arrivals {
public:
    /// Flows beyond these are counted as packets alone.
    static constexpr std::size_t most_flows = 4096;

    void take(wire::Octets frame);

    std::uint64_t packets = 0, octets = 0, numbered = 0;
    [[nodiscard]] std::uint64_t lost() const noexcept { return sum(&FlowArrivals::lost); }
    [[nodiscard]] std::uint64_t different() const noexcept { return sum(&FlowArrivals::different); }
    [[nodiscard]] std::uint64_t doubled() const noexcept { return sum(&FlowArrivals::doubled); }
    [[nodiscard]] std::uint64_t overtaken() const noexcept { return sum(&FlowArrivals::overtaken); }
    [[nodiscard]] std::size_t flows() const noexcept { return flows_.size(); }

private:
    struct Key {
        wire::Gid from, to;
        std::uint32_t run;
        friend auto operator<=>(const Key&, const Key&) = default;
    };
    [[nodiscard]] std::uint64_t sum(std::uint64_t (FlowArrivals::*what)() const noexcept) const noexcept;
    std::map<Key, FlowArrivals> flows_;
};

}  // namespace ipoib::traffic
