// SPDX-License-Identifier: GPL-2.0-or-later
// How much of each section was judged, and how: a bar for each, as long as it has requirements.
#include "reports/html/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace ipoib::reports::html {
namespace {

// Pixels.
constexpr unsigned label_width = 170, bar_width = 560, row_height = 24, bar_height = 18;
constexpr double narrowest_number = 18;
constexpr std::size_t verdicts = 8;

struct Bar {
    SectionKey section;
    std::array<unsigned, verdicts> counts{};
    [[nodiscard]] unsigned all() const {
        unsigned sum = 0;
        for (const auto count : counts) sum += count;
        return sum;
    }
};

std::vector<Bar> bars_of(const Results& results) {
    std::vector<Bar> bars;
    for (const auto& requirement : results.requirements) {
        if (!is_selected(results, requirement)) continue;
        auto section = section_of(requirement);
        auto bar = std::ranges::find(bars, section.key, [](const Bar& one) { return one.section.key; });
        if (bar == bars.end()) bar = bars.insert(bars.end(), Bar{.section = std::move(section)});
        ++bar->counts[static_cast<std::size_t>(requirement.verdict)];
    }
    return bars;
}

std::string segment(const Bar& bar, Verdict verdict, double& x, double y, double scale) {
    const auto count = bar.counts[static_cast<std::size_t>(verdict)];
    if (count == 0) return {};
    const auto width = count * scale;
    auto text = fmt::format(
        "<a href=\"#requirements\" class=\"{0}\" data-s=\"{1}\" data-v=\"{0}\"><title>{2}: {3} {4}</title>"
        "<rect x=\"{5:.1f}\" y=\"{6:.1f}\" width=\"{7:.1f}\" height=\"{8}\"/>",
        key_of(verdict), plain(bar.section.key), plain(bar.section.title), count, name(verdict), x, y, width,
        bar_height);
    if (width >= narrowest_number)
        text += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", x + width / 2, y + bar_height - 5, count);
    x += width;
    return text + "</a>";
}

}  // namespace

std::string coverage(const Context& context) {
    const auto bars = bars_of(context.results);
    if (bars.empty()) return {};
    const auto longest = std::ranges::max(bars, {}, &Bar::all).all();
    const auto scale = static_cast<double>(bar_width) / longest;
    const auto width = label_width + bar_width + 50, height = row_height * static_cast<unsigned>(bars.size());
    auto text = fmt::format(
        "<section id=\"coverage\"><h2>Coverage by section</h2>\n<p>{0}. Each bar is as long as its section has "
        "requirements; a part of it shows them in the tables.</p>\n"
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Coverage by section\">"
        "<svg class=\"coverage\" width=\"{1}\" height=\"{2}\" viewBox=\"0 0 {1} {2}\">\n",
        plain(coverage_sentence(context.results)), width, height);
    double y = 3;
    for (const auto& bar : bars) {
        double x = label_width;
        text += fmt::format("<text class=\"label\" x=\"0\" y=\"{:.1f}\">{}</text>", y + bar_height - 5,
                            plain(bar.section.title));
        for (std::size_t i = 0; i < verdicts; ++i) text += segment(bar, static_cast<Verdict>(i), x, y, scale);
        text += fmt::format("<text class=\"sum\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", x + 6, y + bar_height - 5,
                            bar.all());
        y += row_height;
    }
    return text + "</svg></div></section>\n";
}

}  // namespace ipoib::reports::html
