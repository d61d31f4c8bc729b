// SPDX-License-Identifier: GPL-2.0-or-later
// What makes two findings the same.
#include "conformance/fuzz/finding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace ipoib::conformance::fuzz {
namespace {

/// Lines that say where, of reports of sanitizers and of Linux; the first that is there is taken.
constexpr std::array<std::string_view, 8> places{
    "SUMMARY: ", "runtime error: ", "Freed in ", "RIP: 0010:", "KASAN: ", "WARNING: ", "BUG: ", "Sanitizer"};

bool is_hex(char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; }

/// Numbers of more than two digits are not what a fault is known by; a line of a source is.
std::string without_numbers(std::string_view line) {
    std::string plain;
    for (std::size_t i = 0; i < line.size();) {
        const bool is_hexadecimal = line.substr(i).starts_with("0x");
        const bool is_number = is_hexadecimal || std::isdigit(static_cast<unsigned char>(line[i])) != 0;
        const bool is_in_word =
            i > 0 && (std::isalnum(static_cast<unsigned char>(line[i - 1])) != 0 || line[i - 1] == '_');
        const bool is_line = i > 0 && line[i - 1] == ':';
        const bool is_status = line.substr(0, i).ends_with("status ");
        if (!is_number || is_in_word || is_line || is_status) {
            plain += line[i++];
            continue;
        }
        i += is_hexadecimal ? 2 : 0;
        while (i < line.size() && is_hex(line[i])) ++i;
        plain += '#';
    }
    return plain;
}

/// Who called what a sanitizer names, from the report itself: where several faults are in one helper, its callers tell
/// them apart. "#1 0x55d0 in receive node.c:71".
std::string callers_in(std::string_view report) {
    constexpr std::string_view error = "ERROR: ", in = " in ";
    constexpr unsigned most = 2;
    const auto begin = report.rfind(error);
    if (begin == std::string_view::npos) return {};
    std::string callers;
    unsigned number = 0;
    for (auto rest = report.substr(begin); number <= most && !rest.empty();) {
        const auto end = std::min(rest.find('\n'), rest.size());
        auto line = rest.substr(0, end);
        rest.remove_prefix(std::min(end + 1, rest.size()));
        line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
        const auto at = line.find(in);
        if (!line.starts_with(fmt::format("#{} ", number)) || at == std::string_view::npos) {
            if (number > 0) break;
            continue;
        }
        const auto function = line.substr(at + in.size());
        if (number > 0) callers += " < " + std::string{function.substr(0, function.find(' '))};
        ++number;
    }
    return callers;
}

}  // namespace

std::string_view name(Finding::Kind kind) noexcept {
    constexpr std::array<std::string_view, 4> names{"fault", "channel", "reach", "membership"};
    return names.at(static_cast<std::size_t>(kind));
}

std::string Finding::key() const {
    std::string key{name(kind)};
    if (kind != Kind::fault) return key;
    key += ": ";
    for (const auto place : places)
        for (const auto& words_of_one : words) {
            const auto at = words_of_one.find(place);
            if (at == std::string::npos) continue;
            auto line = std::string_view{words_of_one}.substr(at);
            line = line.substr(0, line.find('\n'));
            // "RIP: 0010:ipoib_cm_send+0x115/0x4a0 [ib_ipoib]": the function is enough.
            if (place == "RIP: 0010:" || place == "Freed in ")
                line = line.substr(0, line.find_first_of("+ ", place.size()));
            key += without_numbers(line);
            if (place == "SUMMARY: " || place == "Sanitizer") key += callers_in(evidence);
            return key;
        }
    if (!words.empty()) key += without_numbers(std::string_view{words.front()}.substr(0, words.front().find('\n')));
    return key;
}

}  // namespace ipoib::conformance::fuzz
