// SPDX-License-Identifier: GPL-2.0-or-later
// Who sent what to whom: a line for each frame, an arrow between the parties' lifelines, its text beside them.
#include "reports/html/parts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "reports/text.hpp"

namespace ipoib::reports::html {
namespace {

// Pixels.
constexpr unsigned row_height = 24, head_height = 30, first_line = 130, between = 110, before_text = 70;
constexpr double column_width = 7.3;  ///< of the monospaced text

class Ladder {
public:
    explicit Ladder(const Exhibit& exhibit) : exhibit_(exhibit) {}

    std::string draw(std::string_view title) {
        for (const auto& frame : exhibit_.ladder) {
            for (const auto& note : frame.notes) told(note);
            drawn(frame);
        }
        for (const auto& note : exhibit_.afterwards) told(note);
        const auto height = y_ + row_height / 2;
        std::string lifelines;
        for (std::size_t i = 0; i < exhibit_.parties.size(); ++i)
            lifelines += fmt::format(
                "<line class=\"life\" x1=\"{0}\" y1=\"{1}\" x2=\"{0}\" y2=\"{2}\"/>"
                "<text class=\"party\" x=\"{0}\" y=\"18\">{3}</text>",
                x_of(i), head_height, height, plain(clipped(exhibit_.parties[i], longest_party)));
        return fmt::format(
            "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{0}\">"
            "<svg class=\"ladder\" role=\"img\" width=\"{1}\" height=\"{2}\" viewBox=\"0 0 {1} {2}\">"
            "<title>{0}</title>{3}{4}</svg></div>\n",
            plain(title), width_, height, lifelines, rows_);
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

    void told(const std::string& note) {
        const auto text = clipped(printable(note, Lines::join), longest_row);
        y_ += row_height;
        rows_ += fmt::format("<text class=\"note\" x=\"8\" y=\"{}\">{}</text>", y_ + 4, plain(text));
        reaches(8, text);
    }

    static std::string head_at(unsigned x, unsigned y, bool points_right) {
        const auto back = points_right ? x - 8 : x + 8;
        return fmt::format("<path class=\"tip\" d=\"M{0} {1} L{2} {3} L{2} {4} Z\"/>", x, y, back, y - 4, y + 4);
    }

    [[nodiscard]] std::string arrow(const LadderFrame& frame) const {
        const auto from = x_of(frame.from);
        std::string marks = fmt::format("<circle class=\"from\" cx=\"{}\" cy=\"{}\" r=\"3\"/>", from, y_);
        auto left = from, right = from;
        for (std::size_t i = 0; i < exhibit_.parties.size(); ++i) {
            if (i == frame.from || (frame.to && *frame.to != i)) continue;
            const auto x = x_of(i);
            left = std::min(left, x), right = std::max(right, x);
            marks += head_at(x, y_, x > from);
        }
        return fmt::format("<line class=\"way{}\" x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"/>", frame.to ? "" : " group",
                           left, y_, right, y_) +
               marks;
    }

    void drawn(const LadderFrame& frame) {
        const auto text = clipped(printable(frame.text, Lines::join), longest_row);
        y_ += row_height;
        rows_ += fmt::format("<g class=\"{}\"><title>frame {}: {}</title>", frame.is_wrong ? "frame wrong" : "frame",
                             frame.number, plain(text));
        if (frame.is_wrong)
            rows_ +=
                fmt::format("<rect x=\"0\" y=\"{}\" width=\"100%\" height=\"{}\"/>", y_ - row_height / 2, row_height);
        rows_ += fmt::format(
            "<text x=\"8\" y=\"{0}\">{1}</text><text class=\"time\" x=\"108\" y=\"{0}\">{2}</text>{3}"
            "<text x=\"{4}\" y=\"{0}\">{5}{6}</text></g>",
            y_ + 4, frame.number, time_text(frame.time_ns), arrow(frame), text_at(), frame.is_wrong ? "\u2717 " : "",
            plain(text));
        reaches(text_at() + 16, text);
    }

    static std::string time_text(std::int64_t time) {
        constexpr double milli = 1e6, second = 1e9;
        const auto ns = static_cast<double>(time);
        return ns < second ? fmt::format("{:.3f} ms", ns / milli) : fmt::format("{:.2f} s", ns / second);
    }

    const Exhibit& exhibit_;
    std::string rows_;
    unsigned y_ = head_height, width_ = 0;
};

}  // namespace

std::string ladder(const Exhibit& exhibit, std::string_view title) {
    if (exhibit.ladder.empty()) return {};
    return Ladder{exhibit}.draw(title);
}

}  // namespace ipoib::reports::html
