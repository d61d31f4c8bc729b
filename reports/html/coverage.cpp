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

void segment(Element picture, const Bar& bar, Verdict verdict, double& x, double y, double scale) {
    const auto count = bar.counts[static_cast<std::size_t>(verdict)];
    if (count == 0) return;
    const auto width = count * scale;
    const auto key = key_of(verdict);
    auto link =
        picture.add("a", {{"href", "#requirements"}, {"class", key}, {"data-s", bar.section.key}, {"data-v", key}});
    link.add("title").text(fmt::format("{}: {} {}", bar.section.title, count, name(verdict)));
    link.add("rect", {{"x", fmt::format("{:.1f}", x)},
                      {"y", fmt::format("{:.1f}", y)},
                      {"width", fmt::format("{:.1f}", width)},
                      {"height", fmt::format("{}", bar_height)}});
    if (width >= narrowest_number)
        link.add("text",
                 {{"x", fmt::format("{:.1f}", x + width / 2)}, {"y", fmt::format("{:.1f}", y + bar_height - 5)}})
            .literal(std::to_string(count));
    x += width;
}

/// The section's name, its parts and their sum.
void row(Element picture, const Bar& bar, double y, double scale) {
    const auto base = fmt::format("{:.1f}", y + bar_height - 5);
    picture.add("text", {{"class", "label"}, {"x", "0"}, {"y", base}}).text(bar.section.title);
    double x = label_width;
    for (std::size_t i = 0; i < verdicts; ++i) segment(picture, bar, static_cast<Verdict>(i), x, y, scale);
    picture.add("text", {{"class", "sum"}, {"x", fmt::format("{:.1f}", x + 6)}, {"y", base}})
        .literal(std::to_string(bar.all()));
}

}  // namespace

void coverage(Element main, const Context& context) {
    const auto bars = bars_of(context.results);
    if (bars.empty()) return;
    const auto longest = std::ranges::max(bars, {}, &Bar::all).all();
    const auto scale = static_cast<double>(bar_width) / longest;
    const auto width = label_width + bar_width + 50, height = row_height * static_cast<unsigned>(bars.size());
    auto part = section(main, "coverage", "Coverage by section", false);
    part.add("p")
        .text(coverage_sentence(context.results))
        .literal(". Each bar is as long as its section has requirements; a part of it shows them in the tables.");
    auto picture = wide(part, "Coverage by section")
                       .add("svg", {{"class", "coverage"},
                                    {"width", std::to_string(width)},
                                    {"height", std::to_string(height)},
                                    {"viewBox", fmt::format("0 0 {} {}", width, height)}});
    double y = 3;
    for (const auto& bar : bars) {
        row(picture, bar, y, scale);
        y += row_height;
    }
}

}  // namespace ipoib::reports::html
