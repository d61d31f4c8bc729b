// SPDX-License-Identifier: GPL-2.0-or-later
// Hosts by requirements: a picture of who keeps what, the sentence to each row, and a line for each host.
#include "reports/html/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/utf8.hpp"

namespace ipoib::reports::html {
namespace {

// Pixels.
constexpr unsigned label_width = 150, row_height = 20, widest_cell = 20, all_cells = 640;
constexpr double narrowest_letter = 12, letter_width = 7.5;
constexpr std::size_t most_names = 32, longest_name = 20;

/// Of each host its verdict on a row's requirement; of one without any result its verdict as a whole.
std::vector<std::size_t> across(const Results& results, const MatrixRow& row) {
    std::vector<std::size_t> found;
    for (const auto& host : results.hosts) found.push_back(static_cast<std::size_t>(host.verdict));
    for (std::size_t verdict = 0; verdict < verdicts; ++verdict)
        for (const auto host : row.hosts[verdict]) found[host] = verdict;
    return found;
}

std::string_view letters(std::size_t verdict) {
    constexpr std::array<std::string_view, verdicts> all{"F", "XP", "E", "I", "W", "XF", "P", "-"};
    return all[verdict];
}

class Picture {
public:
    explicit Picture(const Context& context)
        : results_(context.results),
          cell_(std::min(static_cast<double>(widest_cell),
                         static_cast<double>(all_cells) / static_cast<double>(results_.hosts.size()))) {}

    void draw(Element part, const std::vector<MatrixRow>& rows) {
        auto picture = wide(part, "Hosts by requirements").add("svg", {{"class", "matrix"}});
        names(picture);
        for (const auto& row : rows) drawn(picture, row);
        const auto cells = static_cast<unsigned>(cell_ * static_cast<double>(results_.hosts.size()));
        const auto width = std::to_string(label_width + cells + 10), height = std::to_string(y_ + 4);
        picture.whole("width", width).whole("height", height).whole("viewBox", "0 0 " + width + " " + height);
    }

private:
    [[nodiscard]] double x_of(std::size_t host) const { return label_width + cell_ * static_cast<double>(host); }

    /// Along the columns, where they are wide enough.
    void names(Element picture) {
        if (results_.hosts.size() > most_names) return;
        std::size_t longest = 0;
        for (const auto& host : results_.hosts) longest = std::max(longest, std::min(longest_name, columns(host.name)));
        y_ = 12 + static_cast<unsigned>(letter_width * static_cast<double>(longest));
        for (std::size_t i = 0; i < results_.hosts.size(); ++i)
            picture
                .add("text",
                     {{"class", "host"},
                      {"transform", fmt::format("translate({:.1f} {}) rotate(-90)", x_of(i) + cell_ / 2 + 4, y_ - 4)}})
                .text(clipped(results_.hosts[i].name, longest_name));
    }

    /// Neighbours with the same verdict are one part, so that hundreds of hosts are no thousands of them.
    void drawn(Element picture, const MatrixRow& row) {
        const auto found = across(results_, row);
        const auto& requirement = results_.requirements[row.requirement];
        picture.add("a", {{"href", fmt::format("#q{}", row.requirement)}})
            .add("text", {{"class", "label"}, {"x", "0"}, {"y", std::to_string(y_ + 14)}})
            .text(requirement.id);
        for (std::size_t first = 0; first < found.size();) {
            auto end = first;
            while (end < found.size() && found[end] == found[first]) ++end;
            part(picture, found[first], first, end);
            first = end;
        }
        y_ += row_height;
    }

    void part(Element picture, std::size_t verdict, std::size_t first, std::size_t end) {
        Hosts hosts;
        for (auto i = first; i < end; ++i) hosts.push_back(i);
        const auto key = static_cast<Verdict>(verdict);
        auto group = picture.add("g", {{"class", key_of(key)}});
        group.add("title").literal(name(key)).literal(": ").text(named(results_, hosts));
        group.add("rect", {{"x", fmt::format("{:.1f}", x_of(first))},
                           {"y", std::to_string(y_)},
                           {"width", fmt::format("{:.1f}", cell_ * static_cast<double>(end - first))},
                           {"height", std::to_string(row_height - 2)}});
        if (cell_ < narrowest_letter) return;
        for (auto i = first; i < end; ++i)
            group.add("text", {{"x", fmt::format("{:.1f}", x_of(i) + cell_ / 2)}, {"y", std::to_string(y_ + 14)}})
                .literal(letters(verdict));
    }

    const Results& results_;
    double cell_;
    unsigned y_ = 4;
};

void sentences(Element part, const Context& context, const std::vector<MatrixRow>& rows) {
    if (rows.empty()) return;
    auto list = part.add("ul", {{"class", "where"}});
    for (const auto& row : rows) {
        const auto& requirement = context.results.requirements[row.requirement];
        auto line = list.add("li");
        badge(line, row.worst(), name(row.worst()));
        line.literal(" ").add("a", {{"href", fmt::format("#q{}", row.requirement)}}).text(requirement.id);
        line.literal(" ").text(where(context.results, row));
    }
}

/// Texts with "; " between them.
void listed(Element cell, const std::vector<std::string>& texts) {
    std::string_view between;
    for (const auto& text : texts) {
        if (text.empty()) continue;
        cell.literal(between).text(text);
        between = "; ";
    }
}

void host_rows(Element part, const Context& context, const Matrix& matrix) {
    auto rows = table(part, "list", {"verdict", "host", "rules and cases", "DUT"});
    for (std::size_t i = 0; i < context.results.hosts.size(); ++i) {
        const auto& host = context.results.hosts[i];
        auto row = rows.add("tr", {{"id", fmt::format("h{}", i)}, {"data-v", key_of(host.verdict)}});
        badge(row.add("td"), host.verdict, name(host.verdict));
        row.add("td").add("b").text(host.name);
        auto found = faults_of(host);
        found.insert(found.begin(), counted(matrix.counts[i]));
        listed(row.add("td"), found);
        auto facts = host.notes;
        facts.insert(facts.begin(), facts_text(host.dut));
        listed(row.add("td"), facts);
    }
}

}  // namespace

void hosts(Element main, const Context& context) {
    if (context.results.hosts.empty()) return;
    const auto all = matrix(context.results);
    std::vector<MatrixRow> rows;
    for (const auto& row : all.rows)
        if (!row.is_well()) rows.push_back(row);
    auto part = section(main, "hosts", "Hosts", true);
    if (rows.empty()) {
        part.add("p").literal("All hosts have the same good verdict on each requirement.");
    } else {
        part.add("p").literal(fmt::format(
            "{} of {} requirements have a verdict that is not good, or not the same on all hosts:", rows.size(),
            all.rows.size()));
        Picture{context}.draw(part, rows);
    }
    sentences(part, context, rows);
    host_rows(part, context, all);
}

}  // namespace ipoib::reports::html
