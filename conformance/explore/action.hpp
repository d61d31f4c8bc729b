// SPDX-License-Identifier: GPL-2.0-or-later
// What can happen in a schedule: one row each, with its name, its words, what it needs to be told, and what it does.
#pragma once

#include "conformance/explore/schedule.hpp"

#include <span>

namespace ipoib::conformance::explore {

class World;

/// What an action is told: a number with a name, and the values that are tried.
struct Argument {
    std::string_view name;
    std::vector<std::uint32_t> values;  ///< ascending; a file may have any number from the first to the last
};

struct Action {
    std::string_view name;   ///< "sm-restart"
    std::string_view kind;   ///< "operation", or the kind of fault that --faults names: "sm", "port", "frames" ...
    std::string_view words;  ///< for people; "{}" stands for its arguments, in order
    std::vector<Argument> arguments;
    void (*act)(World& world, const Step& step);
};

inline constexpr std::string_view operation = "operation";

[[nodiscard]] std::span<const Action> all_actions();
/// Null for a name that is none.
[[nodiscard]] const Action* find_action(std::string_view name);
/// The kinds of events, in the order of the table.
[[nodiscard]] std::vector<std::string_view> event_kinds();

}  // namespace ipoib::conformance::explore
