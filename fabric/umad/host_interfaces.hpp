// SPDX-License-Identifier: GPL-2.0-or-later
// Whether the host itself uses IPoIB on a port: then what is left at the SA in the port's name is left for it, too.
#pragma once

#include <cstdint>
#include <string>

namespace ipoib::fabric {

/// Whether a network interface has a link-layer address (RFC 4391, 9.1.1) with this port GUID. `folder` is laid out as
/// /sys/class/net. What cannot be read is no such interface.
[[nodiscard]] bool has_ipoib_interface(const std::string& folder, std::uint64_t port_guid);

/// Whether there may be one in any network namespace: Linux's driver makes one for every port. `folder` is laid out as
/// /sys/module.
[[nodiscard]] bool has_ipoib_driver(const std::string& folder);

}  // namespace ipoib::fabric
