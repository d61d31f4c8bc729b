// SPDX-License-Identifier: GPL-2.0-or-later
// Who is where while a session is played, and the connections that there are: what packets are made of.
#pragma once

#include "protocol/build/connection.hpp"

#include <optional>

namespace ipoib::conformance::fuzz {

/// A connection between the fuzzer and the node, as far as REQ and REP have told.
struct Connection {
    build::ConnectionEnd own, dut;  ///< dut.psn: that the fuzzer begins with
    std::uint32_t sent = 0;         ///< packets, by the fuzzer
};

struct Scene {
    build::Node self;   ///< the fuzzer
    build::Node dut;    ///< the node under test
    build::Node other;  ///< a node that behaves
    build::Node manager;
    build::Link link;
    std::uint32_t number = 0;  ///< of what is sent, to tell one from another
    /// The ones that the node requested last, and that it accepted last.
    std::optional<Connection> requested, accepted;
    build::ConnectionEnd asked{};  ///< in the fuzzer's last REQ
};

/// A frame of another fabric, so that it gets to the node here: addresses, keys and, over a connection, the PSN.
[[nodiscard]] build::PacketBuilder made_to_fit(Scene& scene, wire::Octets frame);

/// The number of the next packet over a connection.
[[nodiscard]] std::uint32_t next_psn(Connection& connection);

}  // namespace ipoib::conformance::fuzz
