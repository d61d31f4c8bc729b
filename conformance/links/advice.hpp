// SPDX-License-Identifier: GPL-2.0-or-later
// What to do about a capture that shows no link.
#pragma once

#include "reports/results.hpp"

#include <string>

namespace ipoib::links {

/// Why the capture cannot show a link, and what shows one instead; empty where that is not plain.
[[nodiscard]] std::string advice(const reports::CaptureResult& capture);

}  // namespace ipoib::links
