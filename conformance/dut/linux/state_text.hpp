// SPDX-License-Identifier: GPL-2.0-or-later
// What files of the kernel tell of an IPoIB interface's groups and paths. Pure: text in, facts out.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ipoib::host {

/// The link-layer groups of an interface, as `ip maddr` writes them, from /proc/net/dev_mcast.
[[nodiscard]] std::vector<std::string> parse_dev_mcast(const std::string& text, const std::string& interface);

/// A group that the driver has joined, or wants to; of debugfs ipoib/INTERFACE_mcg.
struct DriverGroup {
    std::string mgid;
    bool is_complete = false;   ///< the SA has let it join
    bool is_send_only = false;  ///< joined to send
    std::uint64_t queued = 0;   ///< packets that wait for the join
    friend bool operator==(const DriverGroup&, const DriverGroup&) = default;
};
[[nodiscard]] std::vector<DriverGroup> parse_driver_groups(const std::string& text);

/// A path that the driver has asked for; of debugfs ipoib/INTERFACE_path.
struct DriverPath {
    std::string gid;
    bool is_complete = false;  ///< the SA has told it
    std::uint64_t dlid = 0;    ///< 0 where it is not complete
    std::uint64_t sl = 0;
    std::string rate{};  ///< "100.0 Gb/sec", as the driver writes it
    friend bool operator==(const DriverPath&, const DriverPath&) = default;
};
[[nodiscard]] std::vector<DriverPath> parse_driver_paths(const std::string& text);

/// What a network device is, "bond" or "vrf", of its uevent; empty where it is not told.
[[nodiscard]] std::string parse_device_type(const std::string& uevent);

}  // namespace ipoib::host
