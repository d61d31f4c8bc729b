// SPDX-License-Identifier: GPL-2.0-or-later
// Points in time, in ns since 1970, as people and programs write them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ipoib {

/// "Nov 25 17:12:10.123456", by the clock on the wall here (TZ): as OpenSM's log has it, but for the point.
[[nodiscard]] std::string wall_time(std::int64_t ns);
/// What that clock is ahead of UTC then: "UTC", "UTC+01:00".
[[nodiscard]] std::string wall_zone(std::int64_t ns);
/// "2026-11-25T17:12:10.123456789Z".
[[nodiscard]] std::string utc_time(std::int64_t ns);
/// The time that `utc_time` writes so; nothing for any other text.
[[nodiscard]] std::optional<std::int64_t> utc_time_in(std::string_view text);
/// How long from one to the other, as Wireshark shows it: "0.160000 s", "-12.000001 s".
[[nodiscard]] std::string seconds_between(std::int64_t from, std::int64_t to);

}  // namespace ipoib
