// SPDX-License-Identifier: GPL-2.0-or-later
// The interfaces of one link beside each other, by their hosts' words alone.
#pragma once

#include "conformance/hosts/compare.hpp"

#include <map>
#include <utility>

namespace ipoib::hosts {

/// A link as hosts name it: the subnet prefix of their GIDs, and the P_Key.
using Link = std::pair<std::uint64_t, std::uint16_t>;

/// One interface and the host that has it. Nothing is owned.
struct Place {
    const HostState* host;
    const Interface* interface;
    [[nodiscard]] const Interface* operator->() const noexcept { return interface; }
    /// "node7 ib0 (0002c90300a1b2c3)".
    [[nodiscard]] std::string name() const;
    [[nodiscard]] Link link() const { return {interface->gid.prefix(), interface->partition()}; }
    [[nodiscard]] bool is_running() const noexcept { return interface->is_running.value_or(false); }
    /// "datagram" or "connected": of a bond, which has none, that of the interface it uses; empty: not told.
    [[nodiscard]] std::string mode() const;
};

/// Who has an IP address of a link, by the address.
using Owners = std::map<wire::Gid, std::vector<Place>>;

/// Whether two states are of times that are no farther apart than so many ns. A state of no known time is near to
/// itself alone.
[[nodiscard]] bool are_within(const HostState& one, const HostState& other, std::int64_t span);

/// When a host was looked at, in UTC.
[[nodiscard]] std::string time_text(const HostState& host);

[[nodiscard]] HostFinding finding_of(std::string name, const Place& place, std::string text,
                                     std::vector<wire::Gid> groups = {});

/// Addresses that two have, modes and MTUs that differ, an interface without an address, rails that answer for each
/// other. `doubt`, a sentence, is said with each.
[[nodiscard]] std::vector<HostFinding> findings_among(const Link& link, const std::vector<Place>& places,
                                                      const Owners& owners, const std::string& doubt);

}  // namespace ipoib::hosts
