// SPDX-License-Identifier: GPL-2.0-or-later
// What a node writes down for its administrator.
#include "stack/log.hpp"

namespace ipoib::stack {

void Log::write(std::string_view text) {
    const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(loop_.now()).count();
    auto fraction = std::to_string(milliseconds % 1000);
    fraction.insert(0, 3 - fraction.size(), '0');
    lines_.push_back('[' + std::to_string(milliseconds / 1000) + '.' + fraction + "] " + std::string(text));
    if (lines_.size() > most_lines) lines_.pop_front();
}

}  // namespace ipoib::stack
