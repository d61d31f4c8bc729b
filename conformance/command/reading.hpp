// SPDX-License-Identifier: GPL-2.0-or-later
// Small files of text that the command line names.
#pragma once

#include <string>

namespace ipoib::conformance {

/// All of a file that people may have written, of 4 MiB at most. Throws UsageError.
[[nodiscard]] std::string text_of(const std::string& path);

}  // namespace ipoib::conformance
