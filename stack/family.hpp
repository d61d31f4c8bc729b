// SPDX-License-Identifier: GPL-2.0-or-later
// The family that a decision concerns: IPv4 or IPv6, by a protocol, an address or a group.
#pragma once

#include "protocol/wire/encap.hpp"
#include "protocol/wire/ip_address.hpp"
#include "protocol/wire/mgid.hpp"

namespace ipoib::stack {

/// Whom a decision concerns. What is of no family (setting up the link, ARP, broadcasts, subscriptions) goes with IPv4.
enum class Family : std::uint8_t { ipv4, ipv6 };
[[nodiscard]] constexpr Family family_of(wire::EtherType protocol) noexcept {
    return protocol == wire::EtherType::ipv6 ? Family::ipv6 : Family::ipv4;
}
[[nodiscard]] inline Family family_of(const wire::IpAddress& address) noexcept {
    return address.is_v4() ? Family::ipv4 : Family::ipv6;
}
/// By its signature.
[[nodiscard]] inline Family family_of_group(const wire::Gid& mgid) noexcept {
    return wire::mgid_of(mgid)[wire::Mgid::signature] == wire::ipv6_signature ? Family::ipv6 : Family::ipv4;
}

}  // namespace ipoib::stack
