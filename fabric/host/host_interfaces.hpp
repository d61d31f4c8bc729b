// SPDX-License-Identifier: GPL-2.0-or-later
// The host's own IPoIB: where it uses a port, what is left at the SA in the port's name is left for it, too.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ipoib::fabric {

/// A network interface with a link-layer address of IPoIB (RFC 4391, 9.1.1).
struct HostInterface {
    std::string name;
    std::uint64_t port_guid = 0;
    std::uint16_t p_key = 0;  ///< 0: not told
    std::string mode;         ///< "datagram", "connected"; empty: not told
    bool is_up = false;
};

/// Those that this network namespace sees, by name. `folder` is laid out as /sys/class/net. What cannot be read is no
/// such interface.
[[nodiscard]] std::vector<HostInterface> ipoib_interfaces(const std::string& folder);
[[nodiscard]] bool has_ipoib_interface(const std::string& folder, std::uint64_t port_guid);

/// Whether there may be one in any network namespace: Linux's driver makes one for every port. `folder` is laid out as
/// /sys/module.
[[nodiscard]] bool has_ipoib_driver(const std::string& folder);

}  // namespace ipoib::fabric
