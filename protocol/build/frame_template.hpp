// SPDX-License-Identifier: GPL-2.0-or-later
// A frame that is sent again and again with a few octets that differ.
#pragma once

#include "protocol/build/packet_builder.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>

namespace ipoib::build {

/// A UDP packet that is built once. Eight octets of its payload and its PSN change from then on; the UDP checksum and
/// both CRCs follow by what the change makes of them, so that the frame is what PacketBuilder would build.
class FrameTemplate {
public:
    static constexpr std::size_t changeable = 8;

    /// What a changed octet changes of the CRCs: the ICRC in bits 0 to 31, the VCRC in bits 32 to 47. Both are linear.
    using Effects = std::array<std::array<std::uint64_t, 256>, changeable + 2 + 3>;
    /// By the length of the frame and the places of its eight octets and its PSN: frames of one form share them.
    using Tables = std::map<std::array<std::size_t, 3>, std::shared_ptr<const Effects>>;

    /// `packet` has one UDP header, and its payload at least `at` + 8 octets; `at` is even, as the checksum counts in
    /// pairs.
    FrameTemplate(const PacketBuilder& packet, std::size_t at, Tables& tables);

    /// What the eight octets are from now on, as a number, most significant octet first; and the PSN, modulo 2^24.
    void set(std::uint64_t value, std::uint32_t psn) noexcept;
    [[nodiscard]] wire::Octets frame() const noexcept { return frame_; }

private:
    /// Places in the table: the eight octets, the checksum, the PSN.
    static constexpr std::size_t at_psn = changeable + 2, psn_size = 3;
    void change_value(std::uint64_t value) noexcept;
    [[nodiscard]] std::shared_ptr<const Effects> effects() const;
    /// Changes an octet of a place in the table.
    void change(std::size_t place, std::uint8_t difference) noexcept;
    [[nodiscard]] std::size_t offset(std::size_t place) const noexcept {
        if (place < changeable) return at_ + place;
        return place < at_psn ? at_checksum_ + place - changeable : at_psn_ + place - at_psn;
    }

    std::vector<std::uint8_t> frame_;
    std::size_t at_ = 0, at_checksum_ = 0, at_psn_ = 0;
    std::uint64_t value_ = 0, crc_changes_ = 0;
    std::uint32_t psn_ = 0;
    std::uint32_t sum_ = 0;  ///< of the UDP checksum, not inverted; 1 to 0xffff
    std::shared_ptr<const Effects> effects_;
};

}  // namespace ipoib::build
