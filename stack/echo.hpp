// SPDX-License-Identifier: GPL-2.0-or-later
// Echo requests answered and sent. RFC 792; RFC 4443, 4.
#pragma once

#include "fabric/loop.hpp"
#include "stack/ip.hpp"
#include "stack/lifetime.hpp"

#include <map>
#include <optional>

namespace ipoib::stack {

class Echo {
public:
    static constexpr std::size_t most_waiting = 64;
    explicit Echo(Interface& interface) : interface_(interface) {}

    using Answered = std::function<void(bool is_answered)>;
    /// Sends one request with `size` octets of data; why not, or empty. `answered` is called once if it was sent.
    [[nodiscard]] std::string ping(const wire::IpAddress& to, std::size_t size, fabric::Duration patience,
                                   Answered answered);
    void receive_v4(const IpDatagram& datagram);
    void receive_v6(const IpDatagram& datagram);
    /// Tells who sent it that nobody listens at the port of a UDP datagram: not of what came to more than this host.
    /// RFC 1122, 3.2.2 and 4.1.3.1; RFC 4443, 2.4 and 3.1.
    void refuse_port(const IpDatagram& datagram);

private:
    void answer(const IpDatagram& datagram, wire::IpProtocol protocol, std::uint8_t reply_type);
    void done(std::uint16_t identifier, bool is_answered);

    struct Waiting {
        Answered answered;
        fabric::TimerId timer;
    };
    Interface& interface_;
    std::map<std::uint16_t, Waiting> waiting_;  ///< by identifier
    std::uint16_t next_identifier_ = 1;
    std::optional<fabric::Time> answered_at_;
    Lifetime lifetime_;
};

}  // namespace ipoib::stack
