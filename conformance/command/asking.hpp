// SPDX-License-Identifier: GPL-2.0-or-later
// How fast a subnet administrator is asked, for the commands that do.
#pragma once

#include "conformance/audit/inventory.hpp"

#include <CLI/CLI.hpp>

#include <string>

namespace ipoib::conformance {

/// Questions in a second, unless --rate says otherwise: little beside what a subnet of some thousand hosts asks.
inline constexpr double usual_sa_rate = 200;

void add_rate_option(CLI::App& command, double& rate);

/// Waits, while the fabric goes on, until the next question may be put. The loop must outlive it.
[[nodiscard]] audit::Pace pace_of(fabric::Loop& loop, double rate);

/// What an audit of a fabric asks, in words.
[[nodiscard]] std::string audit_rehearsal(const std::string& fabric, double rate);

/// In ns since 1970, by this host's clock.
[[nodiscard]] std::int64_t now_ns();

}  // namespace ipoib::conformance
