// SPDX-License-Identifier: GPL-2.0-or-later
// What is wrong with a file that a person wrote: everything at once, each with file and line.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ipoib::reports {

/// Collects complaints about one file; the first 50 are told.
class Complaints {
public:
    explicit Complaints(std::string_view file);
    /// `what` may have a name in it that the file says: it becomes one printable line.
    void add(std::size_t line, std::string_view what);
    /// "file:line: what", one a line; empty when there is none.
    [[nodiscard]] std::string text() const;

private:
    std::string file_, text_;
    std::size_t count_ = 0;
};

}  // namespace ipoib::reports
