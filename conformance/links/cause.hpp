// SPDX-License-Identifier: GPL-2.0-or-later
// Which violations explain why packets do not arrive, and which findings explain others.
#pragma once

#include "reports/results.hpp"

#include <span>
#include <string_view>

namespace ipoib::links {

/// A rule whose violation explains a loss.
struct Cause {
    std::string_view rule, name, text;
    std::string_view when = {};  ///< only where what was found instead says so
};

/// The cause that a violation is; null where it explains no loss.
[[nodiscard]] const Cause* cause_of(std::string_view rule, const reports::Detail& detail) noexcept;

/// By what two findings on one link belong together.
enum class Tie : std::uint8_t {
    link,
    port,            ///< all ports of the one are among the other's
    group,           ///< the same of groups
    port_and_group,  ///< of both
    frames,          ///< of the frames that show it
};

/// The name that findings of one kind share: a refused join is one, whatever was refused.
[[nodiscard]] constexpr std::string_view kind_of(std::string_view name) noexcept {
    constexpr std::string_view refusal = "join-refused";
    return name.starts_with(refusal) ? refusal : name;
}

/// A finding of one kind explains one of another.
struct Explanation {
    std::string_view cause, consequence;
    Tie tie;
    std::string_view rule = {};  ///< the rule of the consequence begins so
};
/// What goes deepest first.
[[nodiscard]] std::span<const Explanation> explanations() noexcept;

}  // namespace ipoib::links
