// SPDX-License-Identifier: GPL-2.0-or-later
// What iproute2 and /proc/net tell of an interface. Pure: text in, facts out.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace ipoib::host {

struct InterfaceAddress {
    std::string text;  ///< with prefix length
    bool is_v4 = false;
    bool is_tentative = false;  ///< not an address of the interface yet: duplicates are being looked for
    bool is_duplicate = false;  ///< and never will be: one was found
    bool is_link_local = false;
    friend bool operator==(const InterfaceAddress&, const InterfaceAddress&) = default;
};

/// One interface, of `ip -j addr show`.
struct InterfaceState {
    std::string link_address, broadcast;
    unsigned mtu = 0;
    bool is_up = false;       ///< by its administrator
    bool is_running = false;  ///< and its link is there: of IPoIB, the broadcast group is joined
    std::vector<InterfaceAddress> addresses;
};
[[nodiscard]] std::optional<InterfaceState> parse_interface(const std::string& json, const std::string& name);

struct Neighbour {
    std::string address, link_address;
    std::string state{};  ///< "REACHABLE", "STALE" ...
    friend bool operator==(const Neighbour&, const Neighbour&) = default;
};
/// Those that are resolved, of `ip -j neigh show`.
[[nodiscard]] std::vector<Neighbour> parse_neighbours(const std::string& json);

/// The groups that an interface is a member of, from /proc/net/igmp and /proc/net/igmp6.
[[nodiscard]] std::vector<std::string> parse_igmp(const std::string& text, const std::string& interface);
[[nodiscard]] std::vector<std::string> parse_igmp6(const std::string& text, const std::string& interface);

}  // namespace ipoib::host
