// SPDX-License-Identifier: GPL-2.0-or-later
// Which wrong stacks the explorer finds without knowing them, and which right ones it leaves alone.
#pragma once

#include "conformance/explore/explore.hpp"

#include <optional>

namespace ipoib::conformance::explore {

/// When a wrong stack shows.
enum class Shows : std::uint8_t {
    at_rest,  ///< by operations alone, while nothing changes around it
    after,    ///< only when something has changed
    never,    ///< in no schedule that was played
};

struct Recalled {
    const Mutant* mutant;
    Shows shows = Shows::never;
    std::optional<Found> found{};
    std::uint64_t schedules = 0;
};

struct Recall {
    std::uint64_t schedules = 1000;  ///< for each mutant, at most
    std::uint64_t seed = 1;
    std::function<bool()> is_stopped{};
    std::function<void(std::string_view mutant, std::size_t number, std::size_t count)> progress{};
};

/// Every mutant of the stack and its adapter; those of the subnet administrator are no DUT.
[[nodiscard]] std::vector<Recalled> recall(const Recall& options);

/// For people: how many, and each with what found it.
[[nodiscard]] std::string text(const std::vector<Recalled>& all);
/// The same as a page.
[[nodiscard]] std::string recall_page(const std::vector<Recalled>& all, const Recall& options);

}  // namespace ipoib::conformance::explore
