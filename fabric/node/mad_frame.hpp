// SPDX-License-Identifier: GPL-2.0-or-later
// Frames that carry a MAD: LRH, BTH, DETH and 256 octets. IBTA Vol 1, 13.5.
#pragma once

#include "fabric/frame.hpp"
#include "protocol/wire/packet.hpp"

namespace ipoib::fabric {

using MadOctets = wire::OctetArray<wire::mad_size>;

/// The Q_Key of QP1. IBTA Vol 1, 10.2.4.
inline constexpr std::uint32_t gsi_q_key = 0x80010000;
/// The virtual lane of QP0. IBTA Vol 1, 7.6.2.
inline constexpr std::uint8_t management_vl = 15;
/// SLID and DLID of a node that has no LID yet. IBTA Vol 1, 4.1.3.
inline constexpr std::uint16_t permissive_lid = 0xffff;

/// Where a MAD comes from and goes to.
struct MadPath {
    std::uint16_t slid = permissive_lid, dlid = permissive_lid;
    std::uint8_t sl = 0;
    std::uint16_t p_key = 0xffff;
    std::uint32_t src_qp = 1, dest_qp = 1;

    /// The way back of a MAD that came: to its sender, from `own_lid`.
    [[nodiscard]] static MadPath back(const wire::Packet& packet, std::uint16_t own_lid) noexcept;
};

/// A frame with both CRCs zero. DestQP 0 makes it an SMP: VL 15, no Q_Key. Of the PSN the lower 24 bits count.
[[nodiscard]] Frame mad_frame(const MadPath& path, const MadOctets& mad, std::uint32_t psn = 0);
/// Such a frame with another PSN.
[[nodiscard]] Frame with_psn(const Frame& mad_frame, std::uint32_t psn);

}  // namespace ipoib::fabric
