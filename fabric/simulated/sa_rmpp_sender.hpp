// SPDX-License-Identifier: GPL-2.0-or-later
// The sender's side of RMPP: tables in segments, as fast as the receiver allows. IBTA Vol 1, 13.6.
#pragma once

#include "fabric/simulated/sa_exchange.hpp"

namespace ipoib::fabric::sa {

class RmppSender {
public:
    RmppSender(Outbox& outbox, const SaConfig& config) : outbox_(outbox), config_(config) {}
    ~RmppSender() { clear(); }
    RmppSender(const RmppSender&) = delete;
    RmppSender& operator=(const RmppSender&) = delete;

    /// Sends a table: `head` are the headers of every segment. A table of one segment is not waited for: a requester
    /// that missed it asks again. The same request begins anew. False when too much is on its way already.
    bool send(const MadPath& path, const MadOctets& head, std::vector<std::uint8_t> data);
    /// An ACK, STOP or ABORT came.
    void take(const Request& mad);
    /// Forgets every table.
    void clear();
    [[nodiscard]] std::size_t open() const noexcept { return transfers_.size(); }

private:
    /// What the receiver's answers are matched by.
    struct Key {
        std::uint16_t lid = 0;
        std::uint32_t qpn = 0;
        std::uint64_t transaction_id = 0;
        std::uint16_t attribute = 0;
        friend auto operator<=>(const Key&, const Key&) = default;
    };
    struct Transfer {
        MadPath path;
        MadOctets head{};
        std::vector<std::uint8_t> data;
        std::uint32_t segments = 0, sent = 0, acknowledged = 0;
        std::uint32_t window_last = 1;
        unsigned sends = 1;  ///< of the segment behind those that were acknowledged
        Time due{};
    };
    using Transfers = std::map<Key, Transfer>;

    [[nodiscard]] static Key key_of(const MadPath& path, const MadOctets& head);
    [[nodiscard]] static MadOctets segment(const Transfer& transfer, std::uint32_t number);
    void acknowledged(Transfers::iterator at, std::uint32_t number, std::uint32_t window_last);
    /// Sends what the window allows, some at once.
    void pump(Transfer& transfer);
    void expire();
    void arm();
    void abort(Transfers::iterator at, std::uint8_t status);
    void drop(Transfers::iterator at);

    static constexpr std::uint32_t most_at_once = 64;
    static constexpr std::size_t most_octets = std::size_t{16} << 20, most_transfers = 4096, few_transfers = 8;

    Outbox& outbox_;
    const SaConfig& config_;
    Transfers transfers_;
    std::size_t octets_ = 0;  ///< in all transfers
    TimerId timer_;
    Time armed_{};
};

}  // namespace ipoib::fabric::sa
