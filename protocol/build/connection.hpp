// SPDX-License-Identifier: GPL-2.0-or-later
// Connections of IPoIB: the messages of communication management that make and end them, and what goes over them.
// RFC 4755, 3.5, 4 and 6; IBTA Vol 1, 9.7 and 12.6.
#pragma once

#include "protocol/build/ipoib.hpp"
#include "protocol/wire/cm.hpp"

namespace ipoib::build {

/// One end of a connection: its communication ID, its queue pair, and the PSN that the peer begins with.
struct ConnectionEnd {
    std::uint32_t id = 0, qpn = 0, psn = 0;
};

/// A request at the Service-ID of the peer's UD QPN, its acceptance, its rejection, readiness, the wish to end the
/// connection and the consent to it. What follows a REP names both ends.
[[nodiscard]] PacketBuilder connection_request(const Node& from, const Node& to, const Link& link,
                                               const ConnectionEnd& own);
[[nodiscard]] PacketBuilder connection_reply(const Node& from, const Node& to, const Link& link,
                                             const ConnectionEnd& own, std::uint32_t remote_id);
[[nodiscard]] PacketBuilder connection_rejection(const Node& from, const Node& to, const Link& link,
                                                 std::uint32_t remote_id, std::uint16_t reason);
[[nodiscard]] PacketBuilder connection_ready(const Node& from, const Node& to, const Link& link,
                                             const ConnectionEnd& own, const ConnectionEnd& remote);
[[nodiscard]] PacketBuilder disconnection_request(const Node& from, const Node& to, const Link& link,
                                                  const ConnectionEnd& own, const ConnectionEnd& remote);
[[nodiscard]] PacketBuilder disconnection_reply(const Node& from, const Node& to, const Link& link,
                                                const ConnectionEnd& own, const ConnectionEnd& remote);

/// The same on the default partition, with queue pairs that follow from those of UD; an acceptance has the next ID.
[[nodiscard]] PacketBuilder connection_request(const Node& from, const Node& to, std::uint32_t id);
[[nodiscard]] PacketBuilder connection_reply(const Node& from, const Node& to, std::uint32_t id);
[[nodiscard]] PacketBuilder connection_rejection(const Node& from, const Node& to, std::uint32_t id,
                                                 std::uint16_t reason);
[[nodiscard]] PacketBuilder connection_ready(const Node& from, const Node& to, std::uint32_t local_id,
                                             std::uint32_t remote_id);

/// A unicast packet of IPoIB as RC SEND Only to a queue pair of a connection, to be acknowledged. RFC 4755, 4.
[[nodiscard]] PacketBuilder over_connection(PacketBuilder datagram, std::uint32_t dest_qp, std::uint32_t psn);

/// The same of whatever length, as the packets that an adapter makes of it where a packet has `path_mtu` octets of
/// payload: one Only, or First, Middle and Last; the last one is to be acknowledged. IBTA Vol 1, 9.7.2.
[[nodiscard]] std::vector<PacketBuilder> message_over_connection(PacketBuilder datagram, std::uint32_t dest_qp,
                                                                 std::uint32_t psn, std::size_t path_mtu);

/// AETH.Syndrome: an ACK that says nothing of credits, and NAKs. IBTA Vol 1, 9.7.5.
inline constexpr std::uint8_t acknowledged = 0x1f, sequence_error = 0x60, invalid_request = 0x61;
/// What a receiver says of the messages up to a PSN, or of the PSN that it misses.
struct Acknowledgement {
    std::uint32_t psn = 0;
    std::uint8_t syndrome = acknowledged;
    std::uint32_t messages = 0;  ///< taken so far
};
/// To the queue pair `dest_qp` of the port that has sent a message with these headers.
[[nodiscard]] PacketBuilder acknowledgement(wire::View<wire::Lrh> lrh, wire::View<wire::Bth> bth, std::uint32_t dest_qp,
                                            const Acknowledgement& what);

}  // namespace ipoib::build
