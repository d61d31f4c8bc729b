// SPDX-License-Identifier: GPL-2.0-or-later
// Hosts by requirements: a picture of who keeps what, the sentence to each row, and a line for each host.
#include "reports/html/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "reports/text.hpp"

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

    std::string draw(const std::vector<MatrixRow>& rows) {
        names();
        for (const auto& row : rows) drawn(row);
        const auto width = label_width + static_cast<unsigned>(cell_ * static_cast<double>(results_.hosts.size())) + 10;
        return fmt::format(
            "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Hosts by requirements\">"
            "<svg class=\"matrix\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\">\n{2}</svg></div>\n",
            width, y_ + 4, text_);
    }

private:
    [[nodiscard]] double x_of(std::size_t host) const { return label_width + cell_ * static_cast<double>(host); }

    /// Along the columns, where they are wide enough.
    void names() {
        if (results_.hosts.size() > most_names) return;
        std::size_t longest = 0;
        for (const auto& host : results_.hosts) longest = std::max(longest, std::min(longest_name, columns(host.name)));
        y_ = 12 + static_cast<unsigned>(letter_width * static_cast<double>(longest));
        for (std::size_t i = 0; i < results_.hosts.size(); ++i)
            text_ += fmt::format("<text class=\"host\" transform=\"translate({:.1f} {}) rotate(-90)\">{}</text>",
                                 x_of(i) + cell_ / 2 + 4, y_ - 4, plain(clipped(results_.hosts[i].name, longest_name)));
    }

    /// Neighbours with the same verdict are one part, so that hundreds of hosts are no thousands of them.
    void drawn(const MatrixRow& row) {
        const auto found = across(results_, row);
        const auto& requirement = results_.requirements[row.requirement];
        text_ += fmt::format("<a href=\"#q{}\"><text class=\"label\" x=\"0\" y=\"{}\">{}</text></a>", row.requirement,
                             y_ + 14, plain(requirement.id));
        for (std::size_t first = 0; first < found.size();) {
            auto end = first;
            while (end < found.size() && found[end] == found[first]) ++end;
            part(found[first], first, end);
            first = end;
        }
        text_ += '\n';
        y_ += row_height;
    }

    void part(std::size_t verdict, std::size_t first, std::size_t end) {
        Hosts hosts;
        for (auto i = first; i < end; ++i) hosts.push_back(i);
        const auto key = static_cast<Verdict>(verdict);
        text_ += fmt::format(
            "<g class=\"{}\"><title>{}: {}</title><rect x=\"{:.1f}\" y=\"{}\" width=\"{:.1f}\" height=\"{}\"/>",
            key_of(key), name(key), plain(named(results_, hosts)), x_of(first), y_,
            cell_ * static_cast<double>(end - first), row_height - 2);
        if (cell_ >= narrowest_letter)
            for (auto i = first; i < end; ++i)
                text_ += fmt::format("<text x=\"{:.1f}\" y=\"{}\">{}</text>", x_of(i) + cell_ / 2, y_ + 14,
                                     letters(verdict));
        text_ += "</g>";
    }

    const Results& results_;
    double cell_;
    unsigned y_ = 4;
    std::string text_;
};

std::string sentences(const Context& context, const std::vector<MatrixRow>& rows) {
    std::string text;
    for (const auto& row : rows) {
        const auto& requirement = context.results.requirements[row.requirement];
        text += fmt::format("<li>{} <a href=\"#q{}\">{}</a> {}</li>\n", badge(row.worst(), name(row.worst())),
                            row.requirement, plain(requirement.id), plain(where(context.results, row)));
    }
    return text.empty() ? text : "<ul class=\"where\">\n" + text + "</ul>\n";
}

std::string facts_of(const HostResult& host) {
    auto text = plain(facts_text(host.dut));
    for (const auto& note : host.notes) text += (text.empty() ? "" : "; ") + plain(note);
    return text;
}

std::string host_rows(const Context& context, const Matrix& matrix) {
    std::string text =
        "<table class=\"list\"><thead><tr><th scope=\"col\">verdict</th><th scope=\"col\">host</th>"
        "<th scope=\"col\">rules and cases</th><th scope=\"col\">DUT</th></tr></thead><tbody>\n";
    for (std::size_t i = 0; i < context.results.hosts.size(); ++i) {
        const auto& host = context.results.hosts[i];
        auto found = plain(counted(matrix.counts[i]));
        for (const auto& fault : faults_of(host)) found += (found.empty() ? "" : "; ") + plain(fault);
        text += fmt::format("<tr id=\"h{}\" data-v=\"{}\"><td>{}</td><td><b>{}</b></td><td>{}</td><td>{}</td></tr>\n",
                            i, key_of(host.verdict), badge(host.verdict, name(host.verdict)), plain(host.name), found,
                            facts_of(host));
    }
    return text + "</tbody></table>\n";
}

}  // namespace

std::string hosts(const Context& context) {
    if (context.results.hosts.empty()) return {};
    const auto all = matrix(context.results);
    std::vector<MatrixRow> rows;
    for (const auto& row : all.rows)
        if (!row.is_well()) rows.push_back(row);
    std::string text = "<section id=\"hosts\"><h2>Hosts <small class=\"count\"></small></h2>\n";
    if (!rows.empty())
        text +=
            fmt::format("<p>{} of {} requirements have a verdict that is not good, or not the same on all hosts:</p>\n",
                        rows.size(), all.rows.size()) +
            Picture{context}.draw(rows);
    else
        text += "<p>All hosts have the same good verdict on each requirement.</p>\n";
    return text + sentences(context, rows) + host_rows(context, all) + "</section>\n";
}

}  // namespace ipoib::reports::html
