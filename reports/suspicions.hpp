// SPDX-License-Identifier: GPL-2.0-or-later
// What is not decided for a doubt, put together for people: each doubt about each party once.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "reports/results.hpp"

namespace ipoib::reports {

/// So many are shown, the rest are counted.
inline constexpr std::size_t suspicions_shown = 5;

/// One doubt about one party, in words.
struct SuspicionGroup {
    std::string head;                 ///< "lost frames: 3 frames of 0002c90300100001 on fe80::/0xffff, one doubt"
    std::vector<std::string> frames;  ///< "frame 12: RFC4391-10-08, a sender has joined ...: ... is ..., expected ..."
    std::string innocent;             ///< "innocent if ...: ..."
    std::string settled_by;           ///< a capture to take, or where to look
    std::string assume, command;      ///< that decides it, as in Suspicion
    std::uint64_t count = 0;          ///< frames; of those beyond the details each statement's are counted
};

/// Those with the most frames first. Captures are named where there are several.
[[nodiscard]] std::vector<SuspicionGroup> groups_of(std::span<const Suspicion> suspicions,
                                                    std::span<const CaptureResult> captures);
/// "2 more doubts about 17 frames"; empty where no more are there than are shown.
[[nodiscard]] std::string rest_of(std::span<const SuspicionGroup> groups);
/// Whether a result is INCONC for doubts alone, which are told as suspicions.
[[nodiscard]] bool is_suspicion(const Results& results, const Result& result);

/// As an object of JSON.
[[nodiscard]] nlohmann::ordered_json to_member(const Suspicion& suspicion);

}  // namespace ipoib::reports
