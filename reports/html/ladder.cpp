// SPDX-License-Identifier: GPL-2.0-or-later
// Who sent what to whom: a line for each frame, an arrow between the parties' lifelines, its text beside them.
#include "reports/html/parts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/one_line.hpp"
#include "base/utf8.hpp"

namespace ipoib::reports::html {
namespace {

// Pixels.
constexpr unsigned row_height = 24, head_height = 30, first_line = 130, between = 110, before_text = 70;
constexpr double column_width = 7.3;  ///< of the monospaced text

class Ladder {
public:
    explicit Ladder(const Exhibit& exhibit) : exhibit_(exhibit) {}

    void draw(Element article, std::string_view title) {
        auto picture = wide(article, title).add("svg", {{"class", "ladder"}, {"role", "img"}});
        picture.add("title").text(title);
        auto lifelines = lines_of_parties(picture);
        for (const auto& frame : exhibit_.ladder) {
            for (const auto& note : frame.notes) told(picture, note);
            drawn(picture, frame);
        }
        for (const auto& note : exhibit_.afterwards) told(picture, note);
        const auto height = std::to_string(y_ + row_height / 2), width = std::to_string(width_);
        picture.whole("width", width).whole("height", height).whole("viewBox", "0 0 " + width + " " + height);
        for (auto& line : lifelines) line.whole("y2", height);
    }

private:
    static constexpr std::size_t longest_party = 24, longest_row = 160;

    static unsigned x_of(std::size_t party) { return first_line + static_cast<unsigned>(party) * between; }
    [[nodiscard]] unsigned text_at() const {
        return x_of(exhibit_.parties.empty() ? 0 : exhibit_.parties.size() - 1) + before_text;
    }
    void reaches(unsigned x, std::string_view text) {
        width_ = std::max(width_, x + static_cast<unsigned>(column_width * static_cast<double>(columns(text))) + 20);
    }

    /// Before all else, so that the rest is drawn upon them; how far down they reach is known at the end.
    [[nodiscard]] std::vector<Element> lines_of_parties(Element picture) const {
        std::vector<Element> all;
        for (std::size_t i = 0; i < exhibit_.parties.size(); ++i) {
            const auto x = std::to_string(x_of(i));
            all.push_back(
                picture.add("line", {{"class", "life"}, {"x1", x}, {"y1", std::to_string(head_height)}, {"x2", x}}));
            picture.add("text", {{"class", "party"}, {"x", x}, {"y", "18"}})
                .text(clipped(exhibit_.parties[i], longest_party));
        }
        return all;
    }

    void told(Element picture, const std::string& note) {
        const auto text = one_line(note, longest_row);
        y_ += row_height;
        picture.add("text", {{"class", "note"}, {"x", "8"}, {"y", std::to_string(y_ + 4)}}).text(text);
        reaches(8, text);
    }

    static void tip(Element row, unsigned x, unsigned y, bool points_right) {
        const auto back = points_right ? x - 8 : x + 8;
        row.add("path",
                {{"class", "tip"}, {"d", fmt::format("M{0} {1} L{2} {3} L{2} {4} Z", x, y, back, y - 4, y + 4)}});
    }

    void arrow(Element row, const LadderFrame& frame) const {
        const auto from = x_of(frame.from);
        const auto y = std::to_string(y_);
        auto left = from, right = from;
        std::vector<unsigned> receivers;
        for (std::size_t i = 0; i < exhibit_.parties.size(); ++i) {
            if (i == frame.from || (frame.to && *frame.to != i)) continue;
            const auto x = receivers.emplace_back(x_of(i));
            left = std::min(left, x), right = std::max(right, x);
        }
        row.add("line", {{"class", frame.to ? "way" : "way group"},
                         {"x1", std::to_string(left)},
                         {"y1", y},
                         {"x2", std::to_string(right)},
                         {"y2", y}});
        row.add("circle", {{"class", "from"}, {"cx", std::to_string(from)}, {"cy", y}, {"r", "3"}});
        for (const auto x : receivers) tip(row, x, y_, x > from);
    }

    void drawn(Element picture, const LadderFrame& frame) {
        const auto text = one_line(frame.text, longest_row);
        y_ += row_height;
        auto row = picture.add("g", {{"class", frame.is_wrong ? "frame wrong" : "frame"}});
        row.add("title").literal(fmt::format("frame {}: ", frame.number)).text(text);
        if (frame.is_wrong)
            row.add("rect", {{"x", "0"},
                             {"y", std::to_string(y_ - row_height / 2)},
                             {"width", "100%"},
                             {"height", std::to_string(row_height)}});
        const auto y = std::to_string(y_ + 4);
        row.add("text", {{"x", "8"}, {"y", y}}).literal(std::to_string(frame.number));
        row.add("text", {{"class", "time"}, {"x", "108"}, {"y", y}}).literal(time_text(frame.time_ns));
        arrow(row, frame);
        row.add("text", {{"x", std::to_string(text_at())}, {"y", y}})
            .literal(frame.is_wrong ? "\u2717 " : "")
            .text(text);
        reaches(text_at() + 16, text);
    }

    static std::string time_text(std::int64_t time) {
        constexpr double milli = 1e6, second = 1e9;
        const auto ns = static_cast<double>(time);
        return ns < second ? fmt::format("{:.3f} ms", ns / milli) : fmt::format("{:.2f} s", ns / second);
    }

    const Exhibit& exhibit_;
    unsigned y_ = head_height, width_ = 0;
};

}  // namespace

void ladder(Element article, const Exhibit& exhibit, std::string_view title) {
    if (!exhibit.ladder.empty()) Ladder{exhibit}.draw(article, title);
}

}  // namespace ipoib::reports::html
