// SPDX-License-Identifier: GPL-2.0-or-later
// What a UD queue pair of verbs knows of a datagram: what it is told to send, what it tells of one that came. Both ways
// between that and frames. IBTA Vol 1, 11.4.
#pragma once

#include "fabric/frame.hpp"
#include "protocol/wire/field.hpp"

#include <array>
#include <optional>
#include <string>

namespace ipoib::fabric {

/// Whose queue pair it is: what the adapter itself puts into each of its datagrams.
struct UdSource {
    std::uint16_t lid = 0;
    wire::Gid gid;
    std::uint32_t qpn = 0;
    std::uint16_t p_key = 0xffff;
    std::uint32_t q_key = 0;

    friend bool operator==(const UdSource&, const UdSource&) = default;
};

/// An address handle: the way to the receiver.
struct UdPath {
    struct Global {
        wire::Gid dgid;
        std::uint32_t flow_label = 0;
        std::uint8_t traffic_class = 0, hop_limit = 0;
        friend auto operator<=>(const Global&, const Global&) = default;
    };
    std::uint16_t dlid = 0;
    std::uint8_t sl = 0;
    std::optional<Global> global{};  ///< present: with a GRH
    friend auto operator<=>(const UdPath&, const UdPath&) = default;
};

/// A work request that sends one datagram.
struct UdRequest {
    UdPath path;
    std::uint32_t dest_qp = 0, q_key = 0;
    bool is_solicited = false;
    std::optional<std::uint32_t> immediate{};
    wire::Octets payload;
};

/// A completed work request that received one. The pad is not told, and the payload has none.
struct UdArrival {
    std::uint16_t slid = 0, dlid = 0;
    std::uint8_t sl = 0;
    std::uint32_t src_qp = 0;
    std::optional<std::uint32_t> immediate{};
    wire::Octets grh;  ///< its 40 octets as they were on the wire; empty: there was none
    wire::Octets payload;
};

/// The request with which a queue pair sends just this frame (LRH to VCRC, CRCs right or both zero). The payload points
/// into the frame. Why there is none, naming the field, or empty. IBTA Vol 1, 11.4.1.1.
[[nodiscard]] std::string to_request(wire::Octets frame, const UdSource& source, UdRequest& request);

/// The frame of a datagram that came to the queue pair; both CRCs are zero. What a completion does not tell
/// (wire::is_told_by_rebuilt) is as a right sender would have it.
[[nodiscard]] Frame rebuilt(const UdArrival& arrival, const UdSource& receiver);

}  // namespace ipoib::fabric
