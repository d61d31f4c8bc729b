// SPDX-License-Identifier: GPL-2.0-or-later
// What a watch has seen, as OpenMetrics text.
#pragma once

#include "conformance/links/account.hpp"

#include <string>

namespace ipoib::watch {

struct Counts {
    std::uint64_t frames = 0, ipoib = 0, captures = 0;
};

/// The whole exposition, "# EOF" included. Of links and rules the first thousand have series of their own.
[[nodiscard]] std::string metrics(const Counts& counts, const links::Account& account, const conformance::Judge& judge);

}  // namespace ipoib::watch
