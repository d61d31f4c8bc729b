// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/terminal/numbers.hpp"

#include <fmt/format.h>

#include <cstdlib>

namespace ipoib::conformance {

CLI::Validator positive() {
    constexpr double most = 9007199254740992;  // 2^53
    return {[](std::string& text) -> std::string {
                char* end = nullptr;
                const double number = std::strtod(text.c_str(), &end);
                if (*end != '\0' || !(number > 0)) return "'" + text + "' is no number above zero";
                return number <= most ? std::string{} : text + " is more than can be counted";
            },
            ""};
}

CLI::Validator from_to(double least, double most) {
    return {[least, most](std::string& text) -> std::string {
                char* end = nullptr;
                const double number = std::strtod(text.c_str(), &end);
                if (!text.empty() && *end == '\0' && number >= least && number <= most) return {};
                return fmt::format("'{}' is no number from {} to {}", text, least, most);
            },
            ""};
}

}  // namespace ipoib::conformance
