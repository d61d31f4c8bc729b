// SPDX-License-Identifier: GPL-2.0-or-later
// Whether somebody has stopped a process, such as a debugger: it hangs, and is not to blame for that. proc(5).
#pragma once

#include <sys/types.h>

#include <string>

namespace ipoib {

/// The process `root`, or one that it has started, directly or not, which is stopped (state T or t): "node (process
/// 4711)". Empty when there is none, or the system does not tell.
[[nodiscard]] std::string stopped_process(pid_t root);

}  // namespace ipoib
