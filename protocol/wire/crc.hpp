// SPDX-License-Identifier: GPL-2.0-or-later
// The two checksums at the end of every InfiniBand packet. IBTA Vol 1, 7.8.
#pragma once

#include "protocol/wire/field.hpp"

namespace ipoib::wire {

/// Octets of the invariant and of the variant CRC.
inline constexpr std::size_t icrc_size = 4, vcrc_size = 2;

/// Which checksums a captured frame carries. Captures differ even between their packets.
enum class Tail : std::uint8_t {
    none,       ///< the frame ends with the payload's padding
    icrc,       ///< ICRC only
    both,       ///< ICRC and VCRC
    truncated,  ///< the frame was cut before its end
};

/// Finds the tail of a frame, from the LRH on, by its LRH.PktLen. `octets` must hold an LRH.
[[nodiscard]] Tail detect_tail(Octets octets) noexcept;

/// The ICRC of a frame that begins with its LRH and whose last octet is the last before the ICRC, as the 32-bit number
/// that is written least significant octet first. The fields that change on the way count as ones: with a GRH the whole
/// LRH, TClass, FlowLabel and HopLimit; without one only VL; always the BTH's Reserved8a. IBTA Vol 1, 7.8.1.
[[nodiscard]] std::uint32_t icrc(Octets frame) noexcept;

/// The VCRC of a frame from its LRH to its ICRC, as the 16-bit number that is written least significant octet first.
/// IBTA Vol 1, 7.8.2.
[[nodiscard]] std::uint16_t vcrc(Octets frame) noexcept;

/// What checking a frame's tail gave.
enum class Check : std::uint8_t {
    absent,  ///< not captured, or zero without being right: the capturing tool did not fill it in
    good,
    bad,
};
struct CrcResult {
    Check icrc = Check::absent, vcrc = Check::absent;
};
/// Checks both CRCs of a frame with the given tail (of detect_tail).
[[nodiscard]] CrcResult check_crcs(Octets octets, Tail tail) noexcept;

/// Writes ICRC and VCRC into the last six octets of a whole frame.
void write_crcs(MutableOctets frame) noexcept;

}  // namespace ipoib::wire
