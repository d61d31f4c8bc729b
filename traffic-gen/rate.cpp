// SPDX-License-Identifier: GPL-2.0-or-later
// Rates as people write them.
#include "traffic-gen/rate.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <stdexcept>
#include <string>

namespace ipoib::traffic {
namespace {

constexpr double ns_per_second = 1e9, least = 1e-6, most = 1e12;

struct Amount {
    double value = 0;
    bool is_in_bits = false;
};

Amount amount(std::string_view text, std::string_view option, std::string_view whole) {
    const std::string word(text);
    char* end = nullptr;
    const double number = std::strtod(word.c_str(), &end);
    const std::string_view unit = end;
    const double scale = unit == "kbit" ? 1e3 : unit == "Mbit" ? 1e6 : unit == "Gbit" ? 1e9 : unit.empty() ? 1 : 0;
    if (end == word.c_str() || !(number * scale >= least) || number * scale > most)
        throw std::invalid_argument(
            fmt::format("{} {}: packets a second, bits with kbit, Mbit or Gbit behind, FIRST..LAST of these, or max",
                        option, whole));
    return {number * scale, !unit.empty()};
}

}  // namespace

Rate::Rate(std::string_view text, std::string_view option) {
    if (text == "max") return;
    const auto dots = text.find("..");
    const auto first = amount(text.substr(0, dots), option, text);
    const auto last = dots == std::string_view::npos ? first : amount(text.substr(dots + 2), option, text);
    if (first.is_in_bits != last.is_in_bits)
        throw std::invalid_argument(fmt::format("{} {}: packets and bits cannot be one ramp", option, text));
    first_ = first.value;
    last_ = last.value;
    is_in_bits_ = first.is_in_bits;
    is_steady_ = !is_in_bits_ && !is_ramp();
    if (is_steady_) steady_ = Time{static_cast<Time::rep>(ns_per_second / first_)};
}

Time Rate::varying(std::size_t octets, double progress) const noexcept {
    constexpr double bits = 8;
    const auto units = is_in_bits_ ? bits * static_cast<double>(octets) : 1.0;
    return Time{static_cast<Time::rep>(ns_per_second * units / (first_ + (last_ - first_) * progress))};
}

}  // namespace ipoib::traffic
