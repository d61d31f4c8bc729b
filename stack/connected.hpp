// SPDX-License-Identifier: GPL-2.0-or-later
// Connected mode: flags, connections, and what goes over them: unicast over those that this side has requested, which
// is each side's choice. RFC 4755; IBTA Vol 1, 9.7 and 12.
#pragma once

#include "fabric/node/hca.hpp"
#include "protocol/wire/cm.hpp"
#include "stack/family.hpp"
#include "stack/lifetime.hpp"
#include "stack/link.hpp"

#include <deque>
#include <map>

namespace ipoib::stack {

class Interface;

/// The record of an interface's connections (RFC4755-3.2-01), and the messages that make and end them.
class Connections {
public:
    static constexpr std::size_t most_connections = 128;
    /// Messages of a connection that wait for their acknowledgement.
    static constexpr std::size_t most_in_flight = 64;
    /// The largest IP MTU of an interface in connected mode.
    static constexpr std::size_t largest_mtu = 65520;
    explicit Connections(Interface& interface) : interface_(interface) {}
    ~Connections();

    void enable() noexcept { is_enabled_ = true; }
    /// Ends all connections too.
    void disable();
    [[nodiscard]] bool is_enabled() const noexcept { return is_enabled_; }
    /// Unicast goes to this peer: a connection is begun where both sides can.
    void wanted(const HardwareAddress& peer, std::uint32_t ud_qpn);
    /// Sends over the connection with this peer. False where it has none to send over: the UD queue pair is the way.
    [[nodiscard]] bool send(const HardwareAddress& peer, std::uint32_t ud_qpn, wire::EtherType protocol,
                            wire::Octets datagram);
    /// The IP MTU of that connection.
    [[nodiscard]] std::optional<std::size_t> mtu_to(const HardwareAddress& peer, std::uint32_t ud_qpn,
                                                    Family family) const;
    /// Ends all connections, and tells the peers.
    void close();
    /// A message of communication management; whether it concerned this interface.
    bool receive(const wire::Packet& packet);

    enum class State : std::uint8_t { requesting, accepting, established, refused };
    /// The state of the connection with a peer, if there is one; flags do not count.
    [[nodiscard]] std::optional<State> state_with(HardwareAddress peer) const;
    [[nodiscard]] std::size_t count() const noexcept { return all_.size(); }
    [[nodiscard]] std::size_t count(State state) const noexcept;

private:
    struct Connection {
        State state = State::requesting;
        bool is_requester = false;
        HardwareAddress peer;  ///< flags zero
        std::uint16_t lid = 0;
        std::uint32_t remote_id = 0, remote_qpn = 0;
        fabric::QueuePair* queue_pair = nullptr;
        unsigned sent = 0;
        fabric::TimerId timer;
        std::size_t own_receive_mtu = 0, receive_mtu = 0;  ///< octets of a message, told by this side and by the peer
        std::size_t path_mtu = 0;                          ///< octets of a packet
        std::uint32_t next_psn = 0;
        /// What waits for its acknowledgement.
        struct Message {
            std::uint32_t last_psn = 0;
            std::vector<fabric::Frame> packets;
        };
        std::deque<Message> ring{};
        unsigned repeats = 0;  ///< since something was acknowledged
        fabric::TimerId repeat_timer{};
        bool is_stopped = false;    ///< the ring was full
        bool was_rejected = false;  ///< else it was not answered
        bool is_over = false;       ///< nothing gets through any more: the fault of a wrong stack
    };
    using All = std::map<std::uint32_t, Connection>;  ///< by local communication ID
    All::iterator with(const HardwareAddress& peer);
    All::iterator with(const HardwareAddress& peer, State state);
    All::iterator answered_by(std::uint32_t local_id, std::uint32_t remote_id);
    All::iterator make(State state, const HardwareAddress& peer, std::uint16_t lid);
    void drop(All::iterator at);
    void refused(All::iterator at, bool was_rejected);
    [[nodiscard]] All::const_iterator way_to(const HardwareAddress& peer, std::uint32_t ud_qpn, Family family) const;
    void answered(std::uint32_t local_id, std::uint32_t psn, std::uint8_t syndrome);
    void repeat(std::uint32_t local_id);
    void await_answer(std::uint32_t local_id, Connection& connection);
    void is_lost(All::iterator at);
    void say_goodbye(std::uint32_t local_id, const Connection& connection);
    void send_again(std::uint32_t local_id);
    void send_req(std::uint32_t local_id, const Connection& connection);
    void send_rep(std::uint32_t local_id, const Connection& connection);
    void send_rtu(std::uint32_t local_id, const Connection& connection);
    void send_rej(std::uint32_t remote_id, std::uint16_t lid, std::uint16_t reason);
    template <class Message>
    void send(std::uint16_t lid, std::uint16_t attribute_id, const wire::Bytes<Message>& message);
    [[nodiscard]] wire::Bytes<wire::CmPrivateData> private_data() const;

    bool on_req(const wire::Packet& packet, wire::View<wire::CmReq> req);
    [[nodiscard]] bool is_repeated(const HardwareAddress& peer, std::uint32_t remote_id);
    bool on_rep(wire::View<wire::CmRep> rep);
    bool on_rtu(wire::View<wire::CmRtu> rtu);
    bool on_rej(wire::View<wire::CmRej> rej);
    bool on_dreq(const wire::Packet& packet, wire::View<wire::CmDreq> dreq);

    Interface& interface_;
    bool is_enabled_ = false;
    All all_;
    Lifetime lifetime_;
};

}  // namespace ipoib::stack
