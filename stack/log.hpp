// SPDX-License-Identifier: GPL-2.0-or-later
// What a node writes down for its administrator. RFC 4391, 12.
#pragma once

#include "fabric/loop.hpp"

#include <deque>
#include <string>

namespace ipoib::stack {

/// The last lines, each with its time in seconds.
class Log {
public:
    static constexpr std::size_t most_lines = 128;
    explicit Log(const fabric::Loop& loop) : loop_(loop) {}
    void write(std::string_view text);
    [[nodiscard]] const std::deque<std::string>& lines() const noexcept { return lines_; }

private:
    const fabric::Loop& loop_;
    std::deque<std::string> lines_;
};

}  // namespace ipoib::stack
