// SPDX-License-Identifier: GPL-2.0-or-later
// Sample captures of links on which ARP works and multicast does not, one for each common cause.
#pragma once

#include "captures/samples.hpp"

namespace ipoib::captures {

/// Part of all(). In each, one thing is wrong, with one of three hosts.
[[nodiscard]] std::span<const Sample> causes();

}  // namespace ipoib::captures
