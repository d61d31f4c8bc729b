// SPDX-License-Identifier: GPL-2.0-or-later
// A DHCP client. RFC 2131, 4.4; RFC 4390 for what is particular to IPoIB.
#pragma once

#include "protocol/wire/dhcp.hpp"
#include "stack/ip.hpp"
#include "stack/lifetime.hpp"

namespace ipoib::stack {

enum class DhcpPurpose : std::uint8_t;

/// Gets one address for its interface and keeps it: DISCOVER, REQUEST, renewal, rebinding, RELEASE. Of several offers
/// it takes the first; it does not wait before it begins, nor ask whether somebody else has the address.
class DhcpClient {
public:
    explicit DhcpClient(Interface& interface) : interface_(interface) {}

    void start();
    /// Gives the address back.
    void stop();
    [[nodiscard]] bool is_started() const noexcept { return state_ != State::stopped; }
    /// A UDP datagram for this node, of any port.
    void receive(const IpDatagram& datagram);

private:
    enum class State : std::uint8_t { stopped, selecting, requesting, bound, renewing, rebinding };
    /// What a lease is, by the ACK. Times are from there.
    struct Lease {
        wire::IpNetwork network;
        std::uint32_t server = 0;
        fabric::Duration renewal{}, rebinding{}, end{};
    };
    void discover();
    void request();
    void bind(wire::Octets ack);
    void enter(State state, fabric::Duration patience);
    void patience_is_over();
    void give_up_address();
    void send(wire::DhcpType type, DhcpPurpose purpose);
    [[nodiscard]] std::vector<std::uint8_t> identifier();

    Interface& interface_;
    State state_ = State::stopped;
    std::uint32_t xid_ = 0, server_ = 0, offered_ = 0, messages_ = 0;
    std::optional<Lease> lease_;
    fabric::TimerId timer_;
    Lifetime lifetime_;
};

}  // namespace ipoib::stack
