// SPDX-License-Identifier: GPL-2.0-or-later
// The tester's ends of reliable connections: what comes over them is acknowledged. IBTA Vol 1, 9.7 and 12.
#pragma once

#include "conformance/bench/situation.hpp"
#include "fabric/port.hpp"

#include <map>

namespace ipoib::conformance {

/// Learns of connections between tester and DUT by the REQ and the REP that make them, whoever said which, and of their
/// end by DREQ, which it confirms where the DUT says it.
class ConnectionEnds {
public:
    /// Nothing is owned; all must live longer.
    ConnectionEnds(fabric::Fabric& fabric, fabric::Port& port, const Situation& situation)
        : fabric_(fabric), port_(port), situation_(situation) {}
    ~ConnectionEnds() { clear(); }
    ConnectionEnds(const ConnectionEnds&) = delete;
    ConnectionEnds& operator=(const ConnectionEnds&) = delete;

    /// A frame of the fabric, when it was sent.
    void saw(const fabric::Sighting& sighting);
    /// Whether a queue pair of the tester has a connection.
    [[nodiscard]] bool has(std::uint32_t qpn) const { return ends_.contains(qpn); }
    /// Acknowledgements wait from now on; or go again, and what waited goes now.
    void withhold(bool does_wait);
    /// All connections are gone, and nobody is told: what comes over them is not acknowledged, nor is their end.
    void clear();

private:
    /// What REQ or REP says of its sender.
    struct Said {
        bool is_of_tester = false;
        std::uint16_t lid = 0;
        std::uint32_t id = 0, qpn = 0;
        std::uint32_t psn = 0;  ///< that the other side begins with
    };
    struct End {
        std::uint16_t lid = 0;  ///< of the DUT
        std::uint32_t id = 0, remote_id = 0, remote_qpn = 0;
        std::uint32_t expected_psn = 0, messages = 0;
        bool owes_answer = false;
        wire::Bytes<wire::Lrh> lrh{};  ///< of the packet that came last
        wire::Bytes<wire::Bth> bth{};
    };
    void made(const Said& req, const Said& rep);
    void management(const wire::Packet& packet, bool is_of_tester);
    void message(const wire::Packet& packet);
    void answer();

    fabric::Fabric& fabric_;
    fabric::Port& port_;
    const Situation& situation_;
    std::map<std::uint32_t, Said> requests_;  ///< by communication ID of the requester
    std::map<std::uint32_t, End> ends_;       ///< by QPN of the tester
    bool does_wait_ = false;
    fabric::TimerId timer_{};
};

}  // namespace ipoib::conformance
