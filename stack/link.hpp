// SPDX-License-Identifier: GPL-2.0-or-later
// What a node knows of its link and of the multicast groups on it. RFC 4391, 4.1, 5 and 9.1.1.
#pragma once

#include "protocol/build/ipoib.hpp"
#include "protocol/wire/ip_address.hpp"
#include "protocol/wire/mtu.hpp"

namespace ipoib::stack {

/// A link-layer address: flags, QPN, GID. RFC 4391, 9.1.1.
using HardwareAddress = wire::Bytes<wire::LinkAddress>;

/// A multicast group as the SA described it.
struct Group {
    wire::Gid mgid;
    std::uint16_t mlid = 0, p_key = 0;
    std::uint32_t q_key = 0, flow_label = 0;
    std::uint8_t mtu = 0, rate = 0, lifetime = 0;  ///< codes
    std::uint8_t sl = 0, traffic_class = 0, hop_limit = 0, scope = 0;
};
/// `record` must be there.
[[nodiscard]] Group group_of(wire::View<wire::McMemberRecord> record) noexcept;

/// The link as the join of its broadcast group described it. RFC 4391, 5.
struct Link : build::Link {
    std::uint8_t rate = 0, lifetime = 0;  ///< codes
};

using wire::mtu_octets;

/// The flags, QPN and GID of an address, "00:00:00:48:fe:80:...".
[[nodiscard]] std::string text(const HardwareAddress& address);

}  // namespace ipoib::stack
