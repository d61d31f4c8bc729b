// SPDX-License-Identifier: GPL-2.0-or-later
// An exchange: something that two implementations must be able to do with each other. One new file in exchanges/ adds
// one.
#pragma once

#include "conformance/interop/meeting.hpp"
#include "protocol/registry.hpp"

#include <string_view>
#include <vector>

namespace ipoib::conformance::interop {

struct Exchange {
    std::string_view id;     ///< "INTEROP-UNICAST-IPV4"; permanent
    std::string_view title;  ///< a sentence
    std::string_view how;    ///< what is done, for the page
    unsigned order;          ///< in lists and runs
    /// What it judges beside the rules on frames. What sends a frame astray is charged besides.
    std::vector<const requirements::Requirement*> checks;
    /// Both adapters must know these requests; what only one of them needs the steps find out.
    std::vector<std::string_view> dut_can;
    /// Both are up when they begin, unless they bring them up themselves.
    void (*steps)(Meeting& meeting);
    bool begins_down = false;
    std::chrono::seconds lasts_at_most{60};  ///< for --dry-run
    Registered<Exchange> registered{this};
};

/// In their order.
[[nodiscard]] const std::vector<const Exchange*>& all_exchanges();

}  // namespace ipoib::conformance::interop
