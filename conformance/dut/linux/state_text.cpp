// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/dut/linux/state_text.hpp"

#include <charconv>
#include <sstream>
#include <string_view>

namespace ipoib::host {
namespace {

constexpr std::string_view blanks = " \t";

std::string_view trimmed(std::string_view text) {
    const auto begin = text.find_first_not_of(blanks);
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

std::uint64_t count_in(std::string_view text) {
    const bool is_hex = text.starts_with("0x");
    if (is_hex) text.remove_prefix(2);
    std::uint64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value, is_hex ? 16 : 10);
    return value;
}

/// Records that begin with "GID: ...", each followed by "  name: value" lines.
template <class Record, class Begin, class Take>
std::vector<Record> records(const std::string& text, Begin begin, Take take) {
    std::vector<Record> all;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        const auto at = line.find(':');
        if (at == std::string::npos) continue;
        const auto name = trimmed(std::string_view{line}.substr(0, at));
        const auto value = trimmed(std::string_view{line}.substr(at + 1));
        if (name == "GID")
            all.push_back(begin(std::string{value}));
        else if (!all.empty())
            take(all.back(), name, value);
    }
    return all;
}

}  // namespace

std::vector<std::string> parse_dev_mcast(const std::string& text, const std::string& interface) {
    constexpr std::size_t digits = 40;  // of an address of 20 octets
    std::vector<std::string> groups;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string index, name, users, global, address;
        words >> index >> name >> users >> global >> address;
        if (name != interface || address.size() != digits) continue;
        std::string written;
        for (std::size_t i = 0; i < address.size(); i += 2) written += (i ? ":" : "") + address.substr(i, 2);
        groups.push_back(std::move(written));
    }
    return groups;
}

std::vector<DriverGroup> parse_driver_groups(const std::string& text) {
    return records<DriverGroup>(
        text, [](std::string gid) { return DriverGroup{.mgid = std::move(gid)}; },
        [](DriverGroup& group, std::string_view name, std::string_view value) {
            if (name == "complete") group.is_complete = value == "yes";
            if (name == "send_only") group.is_send_only = value == "yes";
            if (name == "queuelen") group.queued = count_in(value);
        });
}

std::vector<DriverPath> parse_driver_paths(const std::string& text) {
    return records<DriverPath>(
        text, [](std::string gid) { return DriverPath{.gid = std::move(gid)}; },
        [](DriverPath& path, std::string_view name, std::string_view value) {
            if (name == "complete") path.is_complete = value == "yes";
            if (name == "DLID") path.dlid = count_in(value);
            if (name == "SL") path.sl = count_in(value);
            if (name == "rate") path.rate = value;
        });
}

std::string parse_device_type(const std::string& uevent) {
    constexpr std::string_view key = "DEVTYPE=";
    std::istringstream lines{uevent};
    for (std::string line; std::getline(lines, line);)
        if (line.starts_with(key)) return line.substr(key.size());
    return {};
}

}  // namespace ipoib::host
