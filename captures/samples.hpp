// SPDX-License-Identifier: GPL-2.0-or-later
// The sample captures, as the code that makes them.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace ipoib::captures {

/// One sample: its file name and how it is made. Made twice, it is the same octet for octet.
struct Sample {
    std::string_view file;
    std::string_view shows;  ///< what it is good for, in a sentence
    void (*make)(const std::string& path);
};

[[nodiscard]] std::span<const Sample> all();

}  // namespace ipoib::captures
