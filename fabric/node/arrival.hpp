// SPDX-License-Identifier: GPL-2.0-or-later
// A frame as it arrives at ports: looked at once, however many ports of this process receive it. IBTA Vol
// 1, 7.3, 9.6.1.
#pragma once

#include "fabric/frame.hpp"
#include "protocol/wire/packet.hpp"

#include <optional>

namespace ipoib::fabric {

/// What a port must know of a frame to take or to drop it, and the decoded packet once somebody takes it.
class Arrival {
public:
    enum class Fault : std::uint8_t {
        none,
        malformed,     ///< its length, or a version that is not ours
        bad_crc,       ///< one that was computed, and is wrong
        not_datagram,  ///< well-formed, of another transport service than UD: payload and Q_Key are not looked at
    };

    Arrival() noexcept = default;
    explicit Arrival(const Frame& frame) noexcept { look_at(frame); }
    void look_at(const Frame& frame) noexcept;
    [[nodiscard]] bool is_of(const Frame& frame) const noexcept { return frame_.is_same(frame); }
    [[nodiscard]] const Frame& frame() const noexcept { return frame_; }
    /// The whole frame, decoded on the first call.
    [[nodiscard]] const wire::Packet& packet() noexcept;

    Fault fault = Fault::malformed;
    std::uint8_t vl = 0;
    std::uint16_t dlid = 0, p_key = 0;
    std::uint32_t dest_qp = 0, q_key = 0;
    bool has_grh = false;
    wire::Gid dgid;
    std::size_t payload = 0;  ///< octets between DETH and ICRC, padding and immediate data included

private:
    [[nodiscard]] Fault judge(wire::Octets octets) noexcept;

    Frame frame_;
    bool is_decoded_ = false;
    wire::Packet packet_;
};

/// A frame looked at, for as long as the handlers run that may make other frames arrive. The last one is remembered: a
/// switch hands the same frame to a thousand adapters in a row.
class Look {
public:
    explicit Look(const Frame& frame);
    ~Look();
    Look(const Look&) = delete;
    Look& operator=(const Look&) = delete;
    Arrival& operator*() noexcept { return arrival_; }
    Arrival* operator->() noexcept { return &arrival_; }

private:
    std::optional<Arrival> own_;
    Arrival& arrival_;
};

}  // namespace ipoib::fabric
