// SPDX-License-Identifier: GPL-2.0-or-later
// The answers of RFC 4391 and RFC 4755 to the decisions of a policy, where they are longer than one line.
#pragma once

#include "stack/link.hpp"

namespace ipoib::stack {

/// What follows the P_Key in an MGID.
struct GroupId {
    std::uint16_t high = 0;  ///< 16 bits
    std::uint64_t low = 0;   ///< 64 bits
};

namespace answers {
[[nodiscard]] GroupId ipv6_group_id(const wire::Gid& group) noexcept;
[[nodiscard]] GroupId ipv4_group_id(std::uint32_t group) noexcept;
[[nodiscard]] bool is_beyond_link_local(const wire::IpAddress& group) noexcept;
[[nodiscard]] bool is_directed_broadcast(const wire::IpAddress& address, const wire::IpNetwork& network) noexcept;
[[nodiscard]] bool is_modified_eui64(std::uint64_t guid) noexcept;
[[nodiscard]] std::uint64_t interface_id(std::uint64_t guid, bool is_modified) noexcept;
[[nodiscard]] std::vector<std::uint8_t> nd_option(std::uint8_t type, const HardwareAddress& address);
[[nodiscard]] bool is_group_of_link(const wire::Gid& mgid, const Link& link) noexcept;
[[nodiscard]] std::size_t connection_mtu(std::size_t own, std::size_t of_peer) noexcept;
[[nodiscard]] std::uint64_t service_id(std::uint32_t ud_qpn) noexcept;
[[nodiscard]] bool accepts_crossing(const HardwareAddress& local, const HardwareAddress& remote) noexcept;
[[nodiscard]] std::vector<std::uint8_t> dhcp_client_identifier(std::uint64_t port_guid);
}  // namespace answers

}  // namespace ipoib::stack
