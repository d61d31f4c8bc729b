// SPDX-License-Identifier: GPL-2.0-or-later
// Whether the DUT and its peers reach each other: by unicast, broadcast, groups, in both families, with new packets.
#pragma once

#include "conformance/explore/world.hpp"

#include <string>
#include <vector>

namespace ipoib::conformance::explore {

class Reach {
public:
    /// What is tried follows from the groups that the DUT is wanted to be in.
    explicit Reach(World& world);

    /// Sends a new packet on every way on which none has arrived yet, or on all.
    void send(bool on_all);
    /// Takes what has arrived.
    void collect();
    [[nodiscard]] bool is_whole() const;
    /// Whether nothing has arrived yet from one station at the other's address.
    [[nodiscard]] bool lacks(unsigned from, unsigned to, const wire::IpAddress& address) const;
    /// The ways on which nothing arrives: "DUT to peer 0, IPv4".
    [[nodiscard]] std::vector<std::string> broken() const;

private:
    struct Way {
        unsigned from, to;  ///< numbers of nodes
        wire::IpAddress address;
        std::size_t octets;
        std::string words;
        bool is_open = false;
    };
    struct Packet {
        unsigned from;
        wire::IpAddress address;
        std::size_t octets;
        std::vector<std::size_t> ways;
    };
    /// Whether a packet must arrive on it that has not.
    [[nodiscard]] bool is_wanted(const Way& way) const noexcept;
    void take(unsigned node);
    void add(unsigned from, const std::vector<unsigned>& to, const wire::IpAddress& address, const std::string& words,
             std::size_t octets = 32);

    World& world_;
    std::vector<Way> ways_;
    std::vector<Packet> packets_;
    std::uint8_t round_ = 0;
};

}  // namespace ipoib::conformance::explore
