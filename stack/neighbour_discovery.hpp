// SPDX-License-Identifier: GPL-2.0-or-later
// Address resolution in IPv6. RFC 4391, 9.3; RFC 4861, 7.2.
#pragma once

#include "stack/framing.hpp"

#include <optional>

namespace ipoib::stack {

struct IpDatagram;

class NeighbourDiscovery {
public:
    explicit NeighbourDiscovery(Interface& interface) : interface_(interface) {}
    /// Asks for an address: its solicited-node group, or one peer that is known to have had it.
    void solicit(const wire::Gid& target, const Peer* peer);
    /// A solicitation or advertisement.
    void receive(const IpDatagram& datagram);

private:
    /// Without option type there is no option.
    [[nodiscard]] std::vector<std::uint8_t> message(wire::Icmpv6Type type, std::uint32_t flags, const wire::Gid& target,
                                                    std::optional<std::uint8_t> option_type) const;
    void solicited(const IpDatagram& datagram, const wire::Gid& target, wire::View<wire::LinkAddressOption> source);
    void advertised(const IpDatagram& datagram, const wire::Gid& target, wire::View<wire::LinkAddressOption> option);
    /// `asked_at`: where the solicitation went to.
    void advertise(const wire::Gid& target, const wire::IpAddress& to, const wire::IpAddress& asked_at,
                   const Peer* peer);

    Interface& interface_;
};

}  // namespace ipoib::stack
