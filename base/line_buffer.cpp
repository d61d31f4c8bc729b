// SPDX-License-Identifier: GPL-2.0-or-later
// No octet is looked at twice, however small the pieces are.
#include "base/line_buffer.hpp"

namespace ipoib {

void LineBuffer::feed(std::string_view octets) {
    text_.erase(0, begin_);
    known_ -= begin_;
    begin_ = 0;
    text_ += octets;
}

std::optional<std::string> LineBuffer::next() {
    const auto end = text_.find('\n', known_);
    if (end == std::string::npos) {
        known_ = text_.size();
        return {};
    }
    auto line = text_.substr(begin_, end - begin_);
    begin_ = known_ = end + 1;
    return line;
}

}  // namespace ipoib
