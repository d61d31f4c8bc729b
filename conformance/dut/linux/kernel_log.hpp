// SPDX-License-Identifier: GPL-2.0-or-later
// The kernel's log: what is new in it, what of that concerns InfiniBand, and what is a fault.
#pragma once

#include "conformance/dut/linux/process.hpp"

#include <deque>
#include <optional>
#include <string_view>

namespace ipoib::host {

/// The message of a record of /dev/kmsg ("6,339,5140900,-;message\n KEY=value\n"); absent when it is none.
[[nodiscard]] std::optional<std::string> parse_kmsg(std::string_view record);

/// Tells faults from other lines. Lines come in order: what is allowed for has two.
class FaultFilter {
public:
    [[nodiscard]] bool is_fault(std::string_view line);

private:
    bool is_next_warning_known_ = false;
};

/// Whether a line is about InfiniBand, or about the interface.
[[nodiscard]] bool concerns_infiniband(std::string_view line, std::string_view interface);

/// /dev/kmsg from now on. Bounded: the oldest lines go first.
class KernelLog {
public:
    explicit KernelLog(std::string interface);
    /// Without the permission to read it nothing can be told.
    [[nodiscard]] bool is_readable() const noexcept { return static_cast<bool>(kmsg_); }
    [[nodiscard]] std::vector<std::string> take_lines() { return take(lines_); }
    [[nodiscard]] std::vector<std::string> take_faults() { return take(faults_); }

private:
    void read_new();
    void add(const std::string& line);
    std::vector<std::string> take(std::deque<std::string>& from);

    Descriptor kmsg_;
    std::string interface_;
    FaultFilter filter_;
    bool is_in_trace_ = false;
    std::deque<std::string> lines_, faults_;
};

}  // namespace ipoib::host
