// SPDX-License-Identifier: GPL-2.0-or-later
// What lives in a node for longer than a packet, connections, groups, paths, child interfaces: how it comes to be, what
// is done while it is there, and how it ends. Chance alone seldom gets these into an order in which they meet.
#pragma once

#include "conformance/fuzz/operation.hpp"

#include <span>
#include <vector>

namespace ipoib::conformance::fuzz {

struct Life {
    std::string_view of;            ///< "connection that the node requests"
    std::vector<Operation> begins;  ///< in this order
    std::vector<Operation> uses;    ///< any of them, in any order, some at once
    std::vector<Operation> ends;    ///< one of them is enough
};

[[nodiscard]] std::span<const Life> all_lives();

}  // namespace ipoib::conformance::fuzz
