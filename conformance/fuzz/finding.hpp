// SPDX-License-Identifier: GPL-2.0-or-later
// What a session has brought to light.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ipoib::conformance::fuzz {

struct Finding {
    enum class Kind : std::uint8_t {
        fault,       ///< the node tells of a fault: a report of a sanitizer, of its kernel; or its process is gone
        channel,     ///< its adapter does not answer any more
        reach,       ///< it answers no echo request within the deadline
        membership,  ///< the administrator does not have it as FullMember of the broadcast group within the deadline
    };
    Kind kind = Kind::fault;
    std::vector<std::string> words;  ///< its own, or ours; the first line is the title
    std::string evidence{};          ///< what the adapter has written for people, such as the stack of its kernel

    /// What tells it from others: the place of the fault, without addresses, numbers of processes and times.
    [[nodiscard]] std::string key() const;
};

/// "fault", "channel", "reach", "membership".
[[nodiscard]] std::string_view name(Finding::Kind kind) noexcept;

}  // namespace ipoib::conformance::fuzz
