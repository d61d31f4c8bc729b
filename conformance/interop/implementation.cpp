// SPDX-License-Identifier: GPL-2.0-or-later
// Lists of implementations, read.
#include "conformance/interop/implementation.hpp"

#include "base/one_line.hpp"
#include "conformance/bench/toml_section.hpp"
#include "reports/file.hpp"

#include <array>

namespace ipoib::conformance::interop {
using List = std::vector<Implementation>;
using reports::Loaded;

namespace {

constexpr std::size_t largest_list = std::size_t{1} << 20, longest_name = 40, most_implementations = 64;
constexpr std::size_t least_mtu = 68, most_mtu = 65520;
constexpr std::string_view here_word = "{here}";
/// Of the folder of a pair's evidence: "a--b".
constexpr std::size_t longest_boot = 600;
constexpr std::string_view between_names = "--";

bool is_name(std::string_view text) {
    constexpr std::string_view also = "-_.";
    const auto is_part = [&](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               also.find(c) != std::string_view::npos;
    };
    return !text.empty() && text.size() <= longest_name && text.front() != '.' && text.front() != '-' &&
           text.find(between_names) == std::string_view::npos && std::ranges::all_of(text, is_part);
}

void put_here(std::string& command, const std::string& folder) {
    for (auto at = command.find(here_word); at != std::string::npos; at = command.find(here_word, at + folder.size()))
        command.replace(at, here_word.size(), folder);
}

Implementation read(const toml::table& table, const std::string& folder, reports::Complaints& complaints) {
    Implementation one;
    std::string adapter;
    TomlSection section{table, "implementation", complaints};
    section.text("name", one.name);
    section.text("about", one.about);
    section.text("url", one.url);
    section.text("dut", one.dut);
    section.text("adapter", adapter);
    section.text("start", one.start);
    section.text("interface", one.interface);
    section.one_of("mode", one.mode, {"datagram", "connected"});
    section.number("mtu", one.mtu, least_mtu, most_mtu);
    section.number("starts_within", one.starts_within, 1, longest_boot);
    section.refuse_unknown();
    const auto line = TomlSection::line_of(table);
    if (!is_name(one.name))
        complaints.add(
            line,
            "name must be up to 40 letters, digits, \"-\", \"_\" and \".\", without \"--\", and begin with none "
            "of them but letters, digits and \"_\"");
    else if (one.dut.empty() == adapter.empty())
        complaints.add(line, one.name + " needs an adapter, or a dut of this program, and not both");
    for (const auto* text : {&one.about, &one.url})
        if (printable(*text, Lines::join) != *text) complaints.add(line, "about and url are one line of text");
    if (!one.url.empty() && !one.url.starts_with("https://") && !one.url.starts_with("http://"))
        complaints.add(line, "url begins with https:// or http://");
    if (!adapter.empty()) one.dut = "exec:" + adapter;
    put_here(one.dut, folder);
    put_here(one.start, folder);
    return one;
}

}  // namespace

Loaded<List> parse_implementations(std::string_view text, const std::filesystem::path& path) {
    reports::Complaints complaints{path.string()};
    List all;
    if (const auto document = reports::toml_document(text, path.string(), complaints)) {
        const auto folder = path.has_parent_path() ? path.parent_path().string() : std::string(".");
        for (const auto& [key, value] : *document) {
            const auto name = reports::from_ascii_toml(key.str());
            const auto* list = value.as_array();
            if (name != "implementation" || !list || !list->is_array_of_tables()) {
                complaints.add(TomlSection::line_of(value),
                               "unknown key \"" + name + "\"; there is [[implementation]]");
                continue;
            }
            if (list->size() > most_implementations)
                complaints.add(TomlSection::line_of(value), "more than 64 implementations");
            else
                for (const auto& item : *list) all.push_back(read(*item.as_table(), folder, complaints));
        }
        if (document->empty()) complaints.add(1, "no [[implementation]] is here");
    }
    if (auto wrong = complaints.text(); !wrong.empty()) return Loaded<List>::failed(std::move(wrong));
    return Loaded<List>::of(std::move(all));
}

Loaded<List> load_implementations(const std::filesystem::path& path) {
    const auto text = reports::read_whole(path, largest_list);
    if (!text) return Loaded<List>::failed(text.error);
    return parse_implementations(*text, path);
}

}  // namespace ipoib::conformance::interop
