// SPDX-License-Identifier: GPL-2.0-or-later
// A packet as it was and as it should have been, side by side, and its octets.
#include "reports/html/parts.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ipoib::reports::html {
namespace {

constexpr std::size_t octets_in_line = 16;

bool is_wrong(const FieldText& field) { return field.expected.has_value(); }

std::string row(const FieldText& field) {
    if (!is_wrong(field))
        return fmt::format("<tr><th scope=\"row\">{0}</th><td>{1}</td><td>{1}</td></tr>\n", plain(field.name),
                           plain(field.value));
    return fmt::format(
        "<tr class=\"wrong\"><th scope=\"row\">{}</th><td><ins>{}</ins></td><td><del>{}</del></td></tr>\n",
        plain(field.name), plain(*field.expected), plain(field.value));
}

std::string header(const HeaderText& header) {
    const auto wrong = std::ranges::count_if(header.fields, is_wrong);
    auto text = fmt::format(
        "<details class=\"layer\"{}><summary>{}{}{}</summary>\n"
        "<table class=\"packet\"><thead><tr><th scope=\"col\">field</th><th scope=\"col\">expected</th>"
        "<th scope=\"col\">actual</th></tr></thead><tbody>\n",
        wrong ? " open=\"open\"" : "", plain(header.title),
        header.offset ? fmt::format(" <small>from octet {}</small>", *header.offset) : "",
        wrong ? fmt::format(" <strong class=\"differs\">{} differ{}</strong>", wrong, wrong == 1 ? "s" : "") : "");
    for (const auto& field : header.fields) text += row(field);
    return text + "</tbody></table></details>\n";
}

std::string octets(const Exhibit& exhibit) {
    const auto is_marked = [&](std::size_t at) {
        return std::ranges::any_of(exhibit.wrong, [&](const auto& one) { return at >= one.first && at < one.second; });
    };
    const auto shown = exhibit.octets.size();
    std::string text;
    for (std::size_t line = 0; line < shown; line += octets_in_line) {
        text += fmt::format("{:04x} ", line);
        for (auto at = line; at < std::min(shown, line + octets_in_line); ++at)
            text += fmt::format(" {}{:02x}{}", is_marked(at) ? "<mark>" : "", exhibit.octets[at],
                                is_marked(at) ? "</mark>" : "");
        text += '\n';
    }
    if (shown < exhibit.size) text += fmt::format("and {} more\n", exhibit.size - shown);
    return fmt::format(
        "<details class=\"layer\"><summary>Octets <small>{}</small></summary>\n<pre "
        "class=\"octets\">{}</pre></details>\n",
        exhibit.size, text);
}

}  // namespace

std::string packet(const Exhibit& exhibit) {
    if (exhibit.headers.empty()) return {};
    auto text = fmt::format("<h4>Frame {}, expected and actual</h4>\n<div class=\"headers\">\n", exhibit.frame);
    for (const auto& one : exhibit.headers) text += header(one);
    return text + octets(exhibit) + "</div>\n";
}

}  // namespace ipoib::reports::html
