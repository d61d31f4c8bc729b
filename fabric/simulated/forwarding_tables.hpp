// SPDX-License-Identifier: GPL-2.0-or-later
// What a switch forwards by: the linear and the multicast forwarding table. IBTA Vol 1, 18.2.4.3.
#pragma once

#include "fabric/simulated/switch_attributes.hpp"

#include <bit>
#include <vector>

namespace ipoib::fabric::simulated {

/// A set of a switch's ports.
class PortMask {
public:
    constexpr void set(std::uint8_t port) noexcept { words_[port / 64] |= std::uint64_t{1} << port % 64; }
    [[nodiscard]] constexpr bool has(std::uint8_t port) const noexcept {
        return (words_[port / 64] >> port % 64 & 1) != 0;
    }
    [[nodiscard]] constexpr bool is_empty() const noexcept { return *this == PortMask{}; }
    /// The sixteen ports from `position` * 16 on.
    [[nodiscard]] constexpr std::uint16_t part(std::uint8_t position) const noexcept {
        return static_cast<std::uint16_t>(words_[position / 4] >> position % 4 * 16);
    }
    constexpr void set_part(std::uint8_t position, std::uint16_t part) noexcept {
        const auto shift = position % 4 * 16;
        words_[position / 4] &= ~(std::uint64_t{0xffff} << shift);
        words_[position / 4] |= std::uint64_t{part} << shift;
    }
    template <class Visit>
    constexpr void for_each(Visit&& visit) const {
        for (std::size_t i = 0; i < words_.size(); ++i)
            for (auto rest = words_[i]; rest != 0; rest &= rest - 1)
                visit(static_cast<std::uint8_t>(i * 64 + static_cast<unsigned>(std::countr_zero(rest))));
    }
    friend constexpr bool operator==(const PortMask&, const PortMask&) = default;

private:
    std::array<std::uint64_t, 4> words_{};
};

class ForwardingTables {
public:
    /// The port that a LID is behind, or no_port.
    [[nodiscard]] std::uint8_t port_of(std::uint16_t lid) const noexcept {
        return lid < linear_.size() ? linear_[lid] : no_port;
    }
    struct Group {
        PortMask to;
        PortMask senders;  ///< the end ports that may send to the group
    };
    /// Null for a group that has no entry.
    [[nodiscard]] const Group* group(std::uint16_t mlid) const noexcept {
        const std::size_t entry = std::size_t{mlid} - first_multicast_lid;
        return entry < groups_.size() ? &groups_[entry] : nullptr;
    }

    /// Blocks as the manager reads and writes them; false for a block that no switch has.
    [[nodiscard]] bool read_linear(std::uint32_t block, wire::MutableOctets data) const noexcept;
    [[nodiscard]] bool write_linear(std::uint32_t block, wire::Octets data);
    [[nodiscard]] bool read_multicast(MulticastModifier where, wire::MutableOctets data) const noexcept;
    [[nodiscard]] bool write_multicast(MulticastModifier where, wire::Octets data);
    void set_senders(std::uint16_t mlid, const PortMask& senders);
    void forget_senders() noexcept {
        for (auto& group : groups_) group.senders = {};
    }

private:
    std::vector<std::uint8_t> linear_;  ///< as far as it was written
    std::vector<Group> groups_;
};

}  // namespace ipoib::fabric::simulated
