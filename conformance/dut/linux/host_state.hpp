// SPDX-License-Identifier: GPL-2.0-or-later
// What Linux shows of its IPoIB interfaces, read and not changed. docs/host-state.md describes it.
#pragma once

#include "conformance/dut/linux/line_protocol.hpp"

#include <string>
#include <vector>

namespace ipoib::host {

/// Names of the IPoIB interfaces of this network namespace, in order.
[[nodiscard]] std::vector<std::string> ipoib_interfaces();

/// "ipoib-host-state/1" of these interfaces, as they are now. What could not be read is in its `unread`, with why.
/// Throws std::runtime_error where one of the interfaces does not exist.
[[nodiscard]] Json state_of(const std::vector<std::string>& interfaces);

}  // namespace ipoib::host
