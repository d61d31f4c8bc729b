// SPDX-License-Identifier: GPL-2.0-or-later
// A packet as it was and as it should have been, side by side, and its octets.
#include "reports/html/parts.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ipoib::reports::html {
namespace {

constexpr std::size_t octets_in_line = 16;

bool is_wrong(const FieldText& field) { return field.expected.has_value(); }

void row(Element rows, const FieldText& field) {
    auto line = rows.add("tr");
    if (is_wrong(field)) line.whole("class", "wrong");
    line.add("th", {{"scope", "row"}}).text(field.name);
    if (is_wrong(field)) {
        line.add("td").add("ins").text(*field.expected);
        line.add("td").add("del").text(field.value);
    } else {
        line.add("td").text(field.value);
        line.add("td").text(field.value);
    }
}

void header(Element parent, const HeaderText& header) {
    const auto wrong = std::ranges::count_if(header.fields, is_wrong);
    auto layer = parent.add("details", {{"class", "layer"}});
    if (wrong) layer.whole("open", "open");
    auto title = layer.add("summary").text(header.title);
    if (header.offset) title.literal(" ").add("small").literal(fmt::format("from octet {}", *header.offset));
    if (wrong)
        title.literal(" ")
            .add("strong", {{"class", "differs"}})
            .literal(fmt::format("{} differ{}", wrong, wrong == 1 ? "s" : ""));
    auto rows = table(layer, "packet", {"field", "expected", "actual"});
    for (const auto& field : header.fields) row(rows, field);
}

void octets(Element parent, const Exhibit& exhibit) {
    const auto is_marked = [&](std::size_t at) {
        return std::ranges::any_of(exhibit.wrong, [&](const auto& one) { return at >= one.first && at < one.second; });
    };
    auto layer = parent.add("details", {{"class", "layer"}});
    layer.add("summary").literal("Octets ").add("small").literal(std::to_string(exhibit.size));
    auto text = layer.add("pre", {{"class", "octets"}});
    const auto shown = exhibit.octets.size();
    for (std::size_t line = 0; line < shown; line += octets_in_line) {
        auto plain_ones = fmt::format("{:04x} ", line);
        for (auto at = line; at < std::min(shown, line + octets_in_line); ++at) {
            plain_ones += ' ';
            const auto octet = fmt::format("{:02x}", exhibit.octets[at]);
            if (!is_marked(at)) {
                plain_ones += octet;
                continue;
            }
            text.literal(plain_ones).add("mark").literal(octet);
            plain_ones.clear();
        }
        text.literal(plain_ones + '\n');
    }
    if (shown < exhibit.size) text.literal(fmt::format("and {} more\n", exhibit.size - shown));
}

}  // namespace

void packet(Element article, const Exhibit& exhibit) {
    if (exhibit.headers.empty()) return;
    article.add("h4").literal(fmt::format("Frame {}, expected and actual", exhibit.frame));
    auto headers = article.add("div", {{"class", "headers"}});
    for (const auto& one : exhibit.headers) header(headers, one);
    octets(headers, exhibit);
}

}  // namespace ipoib::reports::html
