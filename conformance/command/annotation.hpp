// SPDX-License-Identifier: GPL-2.0-or-later
// check --write: the capture again, with what was found as comments of its packets.
#pragma once

#include "conformance/links/account.hpp"

#include <map>
#include <string>
#include <vector>

namespace ipoib::conformance {

/// Keeps what a judge finds, by frame, in bounded memory.
class Annotation {
public:
    /// Violation by violation.
    void take(const rules::Rule& rule, const reports::Detail& detail);
    /// What no text forbids, at the frames that show it.
    void take(const links::Account& account);
    /// Writes the capture with the comments. Throws Fault where that fails.
    void write(const std::string& capture, const std::string& to) const;
    /// Comments that there was no room for.
    [[nodiscard]] std::uint64_t beyond() const noexcept { return beyond_; }

private:
    void add(std::uint64_t frame, const std::string& comment);

    std::map<std::uint64_t, std::vector<std::string>> comments_;
    std::size_t octets_ = 0;
    std::uint64_t beyond_ = 0;
};

}  // namespace ipoib::conformance
