// SPDX-License-Identifier: GPL-2.0-or-later
// Connections of IPoIB in captures, from address resolution to their end.
#pragma once

#include "protocol/build/connection.hpp"
#include "traffic-gen/profile.hpp"

namespace ipoib::traffic {

class Connection {
public:
    /// The `number`th of all: it has communication IDs and queue pairs of its own. Whether the interfaces announce
    /// connected modes is said in their link-layer addresses.
    Connection(Stage& stage, const build::Link& link, const build::Node& active, const build::Node& passive,
               std::uint32_t number);

    /// By addresses that announce RC. RFC 4755, 3.1.
    void resolve();
    /// RFC 4755, 3.2.
    void begin();
    /// Where REQs cross, the side with the smaller link-layer address is the one that accepts. RFC 4755, 3.3.
    void begin_crossing();
    /// Nobody listens at the Service-ID, so communication management itself rejects it. IBTA Vol 1, 12.6.7.2.
    void finds_no_service();
    /// RFC 4755, 4.
    void echo(std::uint16_t sequence, std::size_t size);
    void close();

private:
    /// One interface at its end of a connection.
    struct Party {
        build::Node node;
        build::ConnectionEnd end;
        std::uint32_t sent = 0, taken = 0;  ///< messages
    };
    void accept();
    void say(Party& from, Party& to, build::PacketBuilder datagram);

    Stage& stage_;
    build::Link link_;
    Party active_, passive_;
    build::ConnectionEnd refused_;  ///< of the REQ that is in vain where two cross
};

}  // namespace ipoib::traffic
