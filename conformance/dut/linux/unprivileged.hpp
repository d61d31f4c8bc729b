// SPDX-License-Identifier: GPL-2.0-or-later
// What a program without privileges can do to an IPoIB interface of this host.
#pragma once

#include <string>
#include <vector>

namespace ipoib::host {

/// One thing that was tried.
struct Attempt {
    std::string what;        ///< "set the MTU of ib0"
    bool is_refused = true;  ///< by the operating system, for want of permission
    std::string message;     ///< what it said; empty where it was not refused
};

/// Whether this process can become a user without privileges.
[[nodiscard]] bool can_drop_privileges() noexcept;

/// Tries, as a user without privileges and in a process of its own, what would change nothing if it were let: to set
/// the interface's MTU and flags to what they are, and to open its settings and the management devices. What is not
/// there is left out. Throws std::runtime_error when there can be no such process.
[[nodiscard]] std::vector<Attempt> try_unprivileged(const std::string& interface);

}  // namespace ipoib::host
