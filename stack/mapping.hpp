// SPDX-License-Identifier: GPL-2.0-or-later
// From IP groups to MGIDs. RFC 4391, 4.
#pragma once

#include "stack/policy.hpp"

namespace ipoib::stack {

/// The MGID of a group, or of 255.255.255.255, on a link.
[[nodiscard]] wire::Gid mgid_for(const Policy& policy, const Link& link, const wire::IpAddress& group) noexcept;
/// The group of all routers: 224.0.0.2, ff02::2.
[[nodiscard]] wire::IpAddress all_routers(bool is_v4) noexcept;
/// The group of all nodes on the link: 224.0.0.1, ff02::1.
[[nodiscard]] wire::IpAddress all_nodes(bool is_v4) noexcept;
/// ff01::/16, which never leaves the node. RFC 4291, 2.7.
[[nodiscard]] bool is_interface_local(const wire::IpAddress& group) noexcept;

}  // namespace ipoib::stack
