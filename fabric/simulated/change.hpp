// SPDX-License-Identifier: GPL-2.0-or-later
// What can be changed on a simulated subnet from outside.
#pragma once

#include "fabric/change/change.hpp"
#include "fabric/simulated/subnet.hpp"

namespace ipoib::fabric::simulated {

/// Carries out a change. Where ports come up by it, the loop runs until those in `awaited`, by GUID, are active: a few
/// seconds at most, else it has failed.
[[nodiscard]] ChangeAnswer change(Subnet& subnet, const FabricChange& change,
                                  const std::vector<std::uint64_t>& awaited);

}  // namespace ipoib::fabric::simulated
