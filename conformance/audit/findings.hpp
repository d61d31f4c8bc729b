// SPDX-License-Identifier: GPL-2.0-or-later
// What no text forbids, as far as an administrator's records, and hosts, tell of it. docs/audit.md has the findings.
#pragma once

#include "conformance/audit/inventory.hpp"
#include "conformance/hosts/host_state.hpp"
#include "reports/results.hpp"

#include <span>
#include <string>
#include <vector>

namespace ipoib::audit {

struct Troubles {
    std::vector<reports::Beyond> findings;  ///< at most `reports::most_beyond` of each name
    std::vector<std::string> notes;
};

/// MLIDs that groups have, and how many of the groups are solicited-node groups: each IPv6 address takes one.
struct Mlids {
    std::size_t in_use = 0, solicited_node = 0;
    std::uint16_t room = 0;  ///< of the switch with the least; 0: not told
};
[[nodiscard]] Mlids mlids_of(const Inventory& inventory);

/// Of one subnet. With an earlier inventory, counters are told only where they have grown since. `now`: when the
/// administrator was asked, in ns since 1970; 0: nobody knows.
[[nodiscard]] Troubles troubles_of(const Inventory& inventory, std::span<const hosts::HostState> hosts,
                                   std::int64_t now, const Inventory* before = nullptr);

/// Of hosts alone, beside each other.
[[nodiscard]] Troubles troubles_of(std::span<const hosts::HostState> hosts);

/// The hosts as one of several inventories may know them: without interfaces whose ports only others of them know.
[[nodiscard]] std::vector<hosts::HostState> hosts_of(std::span<const hosts::HostState> hosts,
                                                     std::span<const Inventory> inventories, std::size_t which);

}  // namespace ipoib::audit
