// SPDX-License-Identifier: GPL-2.0-or-later
// All that a command has started, however far it went away: other groups, other sessions, orphans.
// PR_SET_CHILD_SUBREAPER(2const).
#pragma once

#include "base/processes.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace ipoib {

/// From the first one on, orphans of this process's descendants become its children, where they can be found: whose
/// they are says a mark in their environment (IPOIB_STARTED_BY). Those without a mark are of the last command that is
/// left. What this process has started in other ways is never one of them, unless it left this process's group. Of one
/// thread.
class Offspring {
public:
    /// Before the command is started.
    Offspring();
    ~Offspring();
    Offspring(const Offspring&) = delete;
    Offspring& operator=(const Offspring&) = delete;

    /// This process's with the mark in it, for the command.
    [[nodiscard]] std::vector<std::string> environment() const;
    /// The command is this process; who began it asks how it ended.
    void began(pid_t root) noexcept { root_ = root; }
    [[nodiscard]] bool is_root(pid_t pid) const noexcept { return pid == root_; }
    /// Takes notice of orphans that have ended, so that none stays as a zombie.
    static void reap() noexcept;
    struct Left {
        Processes processes;
        bool is_all = true;  ///< false: there is one that does not show yet whose it is
    };
    /// What is there of it, the command too as long as nobody has asked how it ended.
    [[nodiscard]] Left left();

private:
    using Clock = std::chrono::steady_clock;
    enum class Whose { mine, others, unknown };
    [[nodiscard]] Whose whose(pid_t pid, pid_t top);
    [[nodiscard]] Left look();

    pid_t root_ = -1;
    std::string mark_;
};

}  // namespace ipoib
