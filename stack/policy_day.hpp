// SPDX-License-Identifier: GPL-2.0-or-later
// For tests: a day in the life of a node, with everything that a Policy decides about, and what the node said in it.
#pragma once

#include "stack/test_stacks.hpp"

namespace ipoib::stack::test {

/// Every frame that the node sent and every line that it logged; equal for nodes that decide alike.
[[nodiscard]] std::string day_of(const Policies& policies);

}  // namespace ipoib::stack::test
