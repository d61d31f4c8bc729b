// SPDX-License-Identifier: GPL-2.0-or-later
// OpenMetrics text, put together family by family.
#pragma once

#include "base/one_line.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace ipoib::watch {

class Exposition {
public:
    /// Of one family, beyond which what is counted has no series of its own.
    static constexpr std::size_t most_series = 1000;

    /// A label's value: backslash, quote and line feed are escaped.
    [[nodiscard]] static std::string label(std::string_view value) {
        std::string text;
        for (const char c : one_line(value)) {
            if (c == '\\' || c == '"') text += '\\';
            text += c;
        }
        return text;
    }
    void family(std::string_view name, std::string_view type, std::string_view help) {
        name_ = "ipoib_" + std::string(name);
        suffix_ = type == "counter" ? "_total" : "";
        text_ += fmt::format("# TYPE {} {}\n# HELP {} {}\n", name_, type, name_, help);
    }
    template <class Value>
    void sample(const std::string& labels, Value value) {
        text_ += fmt::format("{}{}{}{}{} {}\n", name_, suffix_, labels.empty() ? "" : "{", labels,
                             labels.empty() ? "" : "}", value);
    }
    [[nodiscard]] std::string end() && { return std::move(text_) + "# EOF\n"; }

private:
    std::string name_, suffix_, text_;
};

}  // namespace ipoib::watch
