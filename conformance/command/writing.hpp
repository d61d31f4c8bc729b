// SPDX-License-Identifier: GPL-2.0-or-later
// Writing the files that a command was asked for: one that cannot be written takes no other with it.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace ipoib::conformance {

/// Before the work begins: tells on standard error of each path that cannot be written, as far as can be seen without
/// touching what is there; where one is standard output, nothing else goes there from now on. Empty paths are none.
/// False where there are paths and none of them can be written.
bool try_paths(const std::vector<std::string>& paths);

/// The same before work that takes long and is done for what is written: throws Fault where nothing can be.
void require_path(const std::vector<std::string>& paths);

/// Calls each, tells on standard error what those that failed return (a text that is not empty) or throw, unless those
/// words have been told before; whether none failed.
[[nodiscard]] bool write_each(const std::vector<std::function<std::string()>>& writers);

}  // namespace ipoib::conformance
