// SPDX-License-Identifier: GPL-2.0-or-later
// What a sample capture decodes to and which verdicts it gives, as text to compare.
#pragma once

#include <string>

namespace ipoib::captures {

/// A line for the capture, one for each frame (its headers, what was foreign, where decoding stopped), the number of
/// notes, and one for each rule that judged something: verdict, id, the frames that break it. The same for the same
/// capture, however it is worded.
[[nodiscard]] std::string expectation(const std::string& path);

}  // namespace ipoib::captures
