// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/clock_text.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>

namespace ipoib {
namespace {

constexpr std::int64_t second = 1'000'000'000;

/// Whole seconds and the rest, which is never negative.
struct Split {
    std::time_t seconds;
    std::int64_t rest;
    explicit Split(std::int64_t ns) : seconds(ns / second), rest(ns % second) {
        if (rest >= 0) return;
        --seconds;
        rest += second;
    }
};

std::string formatted(const char* form, const std::tm& parts) {
    std::array<char, 64> text{};
    return {text.data(), std::strftime(text.data(), text.size(), form, &parts)};
}

std::string fraction(std::int64_t value, int digits) {
    const auto text = std::to_string(value);
    return '.' + std::string(static_cast<std::size_t>(digits) - text.size(), '0') + text;
}

std::tm local(std::time_t seconds) {
    std::tm parts{};
    localtime_r(&seconds, &parts);
    return parts;
}

}  // namespace

std::string wall_time(std::int64_t ns) {
    const Split time{ns};
    constexpr std::int64_t microsecond = 1000;
    // The names of months are OpenSM's, in any locale: the program sets none.
    return formatted("%b %d %H:%M:%S", local(time.seconds)) + fraction(time.rest / microsecond, 6);
}

std::string wall_zone(std::int64_t ns) {
    const auto offset = formatted("%z", local(Split{ns}.seconds));  // "+0100"
    if (offset.size() != 5 || offset == "+0000") return "UTC";
    return "UTC" + offset.substr(0, 3) + ':' + offset.substr(3);
}

std::string utc_time(std::int64_t ns) {
    const Split time{ns};
    std::tm parts{};
    gmtime_r(&time.seconds, &parts);
    return formatted("%Y-%m-%dT%H:%M:%S", parts) + fraction(time.rest, 9) + 'Z';
}

std::optional<std::int64_t> utc_time_in(std::string_view text) {
    std::tm parts{};
    const std::string whole{text.substr(0, 30)};
    const auto* end = strptime(whole.c_str(), "%Y-%m-%dT%H:%M:%S", &parts);
    if (!end || *end != '.') return std::nullopt;
    const std::int64_t seconds = timegm(&parts), rest = std::strtol(end + 1, nullptr, 10);
    // 1970 and 1677 to 2262: what a number of nanoseconds holds. Whatever is read in another way is written otherwise.
    std::int64_t ns = 0;
    if (__builtin_mul_overflow(seconds + (seconds < 0), second, &ns) ||
        __builtin_add_overflow(ns, seconds < 0 ? rest - second : rest, &ns) || utc_time(ns) != text)
        return std::nullopt;
    return ns;
}

std::string seconds_between(std::int64_t from, std::int64_t to) {
    constexpr std::uint64_t microsecond = 1000, in_a_second = 1'000'000;
    const auto a = static_cast<std::uint64_t>(from), b = static_cast<std::uint64_t>(to);
    const auto us = (to < from ? a - b : b - a) / microsecond;
    return (to < from ? "-" : "") + std::to_string(us / in_a_second) +
           fraction(static_cast<std::int64_t>(us % in_a_second), 6) + " s";
}

}  // namespace ipoib
