// SPDX-License-Identifier: GPL-2.0-or-later
// A list of the SA's records from a file, in either form.
#include "base/one_line.hpp"
#include "conformance/assumptions/sa_list.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>

namespace ipoib::assumptions {
namespace {

constexpr std::size_t longest_description = 256;

[[noreturn]] void refuse(const std::string& origin, const std::string& why) {
    throw std::runtime_error(printable(origin, Lines::join) + ": " + why);
}

/// Plain files and pipes alike, so that the output of a command can be given: --sa <(saquery -g).
std::string whole_of(const std::string& path) {
    const auto fail = [&] { refuse(path, std::generic_category().message(errno)); };
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), &std::fclose);
    if (!file) fail();
    std::string text;
    std::vector<char> block(std::size_t{1} << 16);
    while (const auto count = std::fread(block.data(), 1, block.size(), file.get())) {
        text.append(block.data(), count);
        if (text.size() > largest_sa_file) refuse(path, "more than " + std::to_string(largest_sa_file >> 20) + " MiB");
    }
    if (std::ferror(file.get()) != 0) fail();
    return text;
}

}  // namespace

std::string description_in(std::string_view text) {
    return one_line(text.substr(0, longest_description), longest_description);
}

Statement parse_sa_list(std::string_view text, const std::string& origin, Irregularities are) {
    constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
    if (text.substr(0, byte_order_mark.size()) == byte_order_mark) text.remove_prefix(byte_order_mark.size());
    try {
        if (text.size() > largest_sa_file) throw Wrong{0, "too large"};
        if (const auto nul = text.find('\0'); nul != std::string_view::npos) {
            const auto before = text.substr(0, nul);
            throw Wrong{1 + static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n')),
                        "a NUL octet: this is neither UTF-8 text nor JSON"};
        }
        Collector collector{are};
        const auto begin = text.find_first_not_of(" \t\r\n");
        const bool is_json = begin != std::string_view::npos && (text[begin] == '[' || text[begin] == '{');
        PortCollector ports;
        if (is_json)
            read_sa_json(text, collector);
        else
            read_saquery_text(text, collector, ports);
        const auto not_groups = collector.not_groups();
        const auto room = ports.switch_groups();
        return {.groups = std::move(collector).groups(),
                .ports = std::move(ports).ports(),
                .source = state::Source::file,
                .origin = origin,
                .not_groups = not_groups,
                .subnet_prefix = {},
                .switch_groups = room};
    } catch (const Wrong& wrong) {
        refuse(origin, (wrong.line != 0 ? "line " + std::to_string(wrong.line) + ": " : "") + wrong.what);
    }
}

Statement read_sa_file(const std::string& path, Irregularities are) {
    if (path == "-") throw std::runtime_error("--sa needs the name of a file: standard input is not read");
    return parse_sa_list(whole_of(path), path, are);
}

}  // namespace ipoib::assumptions
