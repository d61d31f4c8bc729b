// SPDX-License-Identifier: GPL-2.0-or-later
// A stream taken apart into lines.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ipoib {

/// How long lines may be is its owner's to say: of each that is whole, and of the rest before it grows without end.
class LineBuffer {
public:
    void feed(std::string_view octets);
    /// The next whole line, without its end; absent while there is none.
    [[nodiscard]] std::optional<std::string> next();
    /// What stands behind the last line's end: the beginning of a line, once next() gives no more.
    [[nodiscard]] std::string_view rest() const noexcept { return std::string_view(text_).substr(begin_); }

private:
    std::string text_;
    std::size_t begin_ = 0;  ///< of what was not given out
    std::size_t known_ = 0;  ///< up to here there is no end of a line
};

}  // namespace ipoib
