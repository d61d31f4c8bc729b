// SPDX-License-Identifier: GPL-2.0-or-later
// The receiver's side of RMPP for one answer of the SA: segments in, acknowledgements out. IBTA Vol 1, 13.6.
#pragma once

#include "fabric/node/mad_frame.hpp"
#include "protocol/wire/rmpp.hpp"

namespace ipoib::fabric {

/// The acknowledgement of the segments up to `in_order`, and leave to send up to `window_last`, to be sent back for
/// `segment`.
[[nodiscard]] MadOctets rmpp_ack(wire::Octets segment, std::uint32_t in_order, std::uint32_t window_last);
/// The end of a transaction whose segments contradict each other.
[[nodiscard]] MadOctets rmpp_abort(wire::Octets segment, std::uint8_t status);

/// Puts one table together.
class SaTable {
public:
    struct Step {
        std::optional<MadOctets> reply;  ///< ACK or ABORT
        std::optional<wire::RmppTable> table;
        bool is_progress = false;
    };
    [[nodiscard]] Step take(std::uint16_t source_lid, std::uint16_t own_lid, wire::Octets mad);
    /// The last segment of those that came without a gap.
    [[nodiscard]] std::uint32_t in_order() const noexcept { return in_order_; }

private:
    static constexpr std::uint32_t window = 64;
    wire::RmppReassembly reassembly_{1};
    std::vector<bool> seen_;  ///< by segment number less one
    std::uint32_t in_order_ = 0, window_last_ = 1;
};

}  // namespace ipoib::fabric
