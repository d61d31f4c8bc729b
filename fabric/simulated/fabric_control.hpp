// SPDX-License-Identifier: GPL-2.0-or-later
// The fabric-control protocol of a simulated subnet: a line of JSON in, a line of JSON out.
#pragma once

#include "fabric/simulated/subnet.hpp"

namespace ipoib::fabric::simulated {

/// Carries out a request: {"id": ..., "do": "scenario" | "sm" | "port" | "pkey" | "sa" | "group" | "faults" |
/// "restore", ...}. The answer repeats the id and has "ok": true, or "error": "unsupported" (unknown "do") or "failed",
/// with "message". Where ports come up by it, the loop runs until those in `awaited` are active, a few seconds at most.
[[nodiscard]] std::string control(Subnet& subnet, const std::string& request,
                                  const std::vector<std::uint64_t>& awaited);

}  // namespace ipoib::fabric::simulated
