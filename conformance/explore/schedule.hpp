// SPDX-License-Identifier: GPL-2.0-or-later
// What happens, and when: operations of the DUT and events around it, as a list that goes to a file and back.
#pragma once

#include "fabric/loop.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ipoib::conformance::explore {

struct Action;

/// Something that happens once.
struct Step {
    fabric::Duration at{};  ///< since all nodes but the DUT are on the link
    const Action* action = nullptr;
    std::array<std::uint32_t, 2> arguments{};  ///< those that the action has
    friend bool operator==(const Step&, const Step&) = default;
};

struct Schedule {
    std::string scenario = "default";
    std::uint64_t seed = 1;   ///< of what chance decides while it is played: which frames are lost
    std::vector<Step> steps;  ///< in the order of their times
    friend bool operator==(const Schedule&, const Schedule&) = default;
};

/// As a file: JSON, a line for each step. The remarks beside the steps are for people.
[[nodiscard]] std::string text(const Schedule& schedule, const std::vector<std::string>& remarks = {});
/// Throws std::invalid_argument, with what is wrong.
[[nodiscard]] Schedule parse_schedule(std::string_view text);
/// "0.250 s: the subnet manager restarts with an empty database".
[[nodiscard]] std::string words(const Step& step);

}  // namespace ipoib::conformance::explore
