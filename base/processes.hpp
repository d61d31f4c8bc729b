// SPDX-License-Identifier: GPL-2.0-or-later
// The processes of this system, as /proc shows them. proc(5).
#pragma once

#include <sys/types.h>

#include <map>
#include <optional>
#include <string>

namespace ipoib {

struct Process {
    std::string name;  ///< what /proc calls the command: 15 octets at most, and of its own choice
    char state = 0;    ///< a letter of proc(5): Z is a zombie
    pid_t parent = 0;
    /// "node (process 4711)"
    [[nodiscard]] std::string text(pid_t pid) const { return name + " (process " + std::to_string(pid) + ")"; }
    [[nodiscard]] bool is_stopped() const noexcept { return state == 'T' || state == 't'; }
    [[nodiscard]] bool is_zombie() const noexcept { return state == 'Z' || state == 'X'; }
};
using Processes = std::map<pid_t, Process>;

/// All that can be seen; each was read at another moment. Empty where there is no /proc.
[[nodiscard]] Processes processes();

/// Whether `pid` is `root`, or was started by it, directly or not.
[[nodiscard]] bool descends_from(pid_t root, pid_t pid, const Processes& all);
/// The process itself and those that it has started, in the order of their numbers: "sh (process 4711), node (process
/// 4712)". Empty when it is not there.
[[nodiscard]] std::string family_text(pid_t root);
/// The process itself or the one of its ancestors whose parent is `parent`; 0: it does not descend from that.
[[nodiscard]] pid_t child_above(pid_t pid, pid_t parent, const Processes& all);

/// The environment that a process began with, NAME=VALUE each ended by a zero octet; nothing where it may not be read.
/// Empty too while the kernel loads a program into the process: execve(2) has taken the old one away, and the new one
/// is not there.
[[nodiscard]] std::optional<std::string> environment_of(pid_t pid);

}  // namespace ipoib
