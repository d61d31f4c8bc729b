// SPDX-License-Identifier: GPL-2.0-or-later
// What the names of findings mean that are no violation of a single statement: links, audit, hosts, explore.
#pragma once

#include <span>
#include <string_view>

namespace ipoib::conformance {

struct FindingName {
    std::string_view name;     ///< "duplicate-address"
    std::string_view what;     ///< what is so, in a sentence
    std::string_view told_by;  ///< the commands that tell it
    std::string_view page;     ///< of docs/, with more
};

/// All names, each once, by the pages.
[[nodiscard]] std::span<const FindingName> finding_names() noexcept;
/// Null for a name that is none.
[[nodiscard]] const FindingName* find_finding(std::string_view name) noexcept;

}  // namespace ipoib::conformance
