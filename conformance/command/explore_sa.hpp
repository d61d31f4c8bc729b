// SPDX-License-Identifier: GPL-2.0-or-later
// ipoib-conform explore --dut sa: histories of requests to a subnet administrator.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "conformance/target/fabric_kind.hpp"

namespace ipoib::conformance {

struct SaExploreOptions {
    std::string fabric{usual_fabric}, control, replay, out, markdown, allow;
    double seconds = 0, timeout_scale = 1;
    std::uint64_t histories = 0, seed = 1;
    std::optional<unsigned> exhaustive;
    unsigned states = 15;
    bool is_strict = false, is_of_mutants = false;
};

/// The exit code.
[[nodiscard]] int explore_sa(const SaExploreOptions& options);

}  // namespace ipoib::conformance
