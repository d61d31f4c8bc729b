// SPDX-License-Identifier: GPL-2.0-or-later
// The neighbours of an interface: resolution, cache, revalidation. RFC 4391, 9 and 9.4; RFC 826; RFC 4861, 7.
#pragma once

#include "fabric/loop.hpp"
#include "stack/lifetime.hpp"
#include "stack/link.hpp"

#include <map>

namespace ipoib::stack {

class Interface;

/// IP address -> link-layer address, for both versions. What a neighbour is asked with is ARP's and ND's business.
class Neighbours {
public:
    static constexpr std::size_t most_neighbours = 1024, most_waiting = 8;
    explicit Neighbours(Interface& interface) : interface_(interface) {}

    /// Sends an IP packet to a neighbour; while it is resolved a few wait.
    void send(const wire::IpAddress& to, wire::EtherType protocol, wire::Octets datagram);
    /// Resolves an address. Called once, null when nobody answered.
    using Resolved = std::function<void(const HardwareAddress*)>;
    void resolve(const wire::IpAddress& to, Resolved resolved);

    /// What ARP or ND told of a neighbour.
    struct Heard {
        wire::IpAddress address;
        HardwareAddress link_address;
        std::uint32_t source_qp = 0;
        std::uint16_t source_lid = 0;
        bool is_answer = false;  ///< it answered: it is there
        bool is_for_us = false;  ///< it spoke to this node: worth an entry
    };
    void heard(const Heard& heard);
    /// Sends to another queue pair of a neighbour that it knows.
    void follow(const wire::IpAddress& address, std::uint32_t qpn);
    /// The IP MTU of the connection with a neighbour, if there is one to send over.
    [[nodiscard]] std::optional<std::size_t> mtu_of_connection(const wire::IpAddress& address) const;
    [[nodiscard]] bool knows(const wire::IpAddress& address) const { return entries_.contains(address); }

    [[nodiscard]] std::vector<std::pair<wire::IpAddress, HardwareAddress>> list() const;
    void flush();
    /// The times of timers() are others now.
    void timers_changed();

private:
    struct Waiting {
        wire::EtherType protocol{};
        std::vector<std::uint8_t> datagram;
    };
    struct Entry {
        HardwareAddress link_address, first_told;
        std::uint32_t qpn = 0;
        bool is_resolved = false;
        bool is_given_up = false;  ///< for ever
        unsigned probes = 0;       ///< since it was last heard of
        fabric::Time confirmed{}, used{};
        fabric::TimerId timer;
        std::vector<Waiting> waiting;
        std::vector<Resolved> resolving;
    };
    using Entries = std::map<wire::IpAddress, Entry>;
    Entry* entry(const wire::IpAddress& address);
    void transmit(const Entry& entry, wire::EtherType protocol, wire::Octets datagram);
    void probe(const wire::IpAddress& address);
    void give_up(Entries::iterator at);
    void confirmed(Entry& entry);
    void arm_sweep();
    void sweep();

    Interface& interface_;
    Entries entries_;
    fabric::TimerId sweep_timer_;
    Lifetime lifetime_;
};

}  // namespace ipoib::stack
