// SPDX-License-Identifier: GPL-2.0-or-later
// From GIDs to paths, as the SA has them. RFC 4391, 9.1.2.
#pragma once

#include "fabric/node/sa_client.hpp"
#include "stack/family.hpp"
#include "stack/framing.hpp"
#include "stack/lifetime.hpp"

#include <map>

namespace ipoib::stack {

/// The paths of one interface, each asked for once.
class Paths {
public:
    static constexpr std::size_t most_paths = 2048, most_waiting = 8;
    explicit Paths(Interface& interface) : interface_(interface) {}

    /// Sends to a peer, as soon as its path is known; a few datagrams wait.
    void send(const Peer& peer, wire::EtherType protocol, wire::Octets datagram);
    /// The path, if it is known.
    [[nodiscard]] const Path* find(const wire::Gid& gid) const;
    /// A peer was heard from this LID, in this family: a path to another one is out of date.
    void heard(const wire::Gid& gid, std::uint16_t lid, Family family);
    void forget(const wire::Gid& gid);
    void clear();

private:
    struct Waiting {
        Peer peer;
        wire::EtherType protocol{};
        std::vector<std::uint8_t> datagram;
    };
    struct Entry {
        Path path;
        bool is_known = false;
        fabric::Time asked{};
        std::uint32_t transaction = 0;
        Family family{};  ///< of what it was asked for
        std::vector<Waiting> waiting;
    };
    void ask(const wire::Gid& gid, Family family);
    void answered(const wire::Gid& asked, const fabric::SaAnswer& answer);
    /// The peer whose path the answer to this question is taken for.
    [[nodiscard]] wire::Gid meant_by(const wire::Gid& asked) const;
    [[nodiscard]] bool make_room();

    Interface& interface_;
    std::map<wire::Gid, Entry> entries_;
    Lifetime lifetime_;
};

}  // namespace ipoib::stack
