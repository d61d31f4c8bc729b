// SPDX-License-Identifier: GPL-2.0-or-later
// Lines for people and for scripts.
#include "traffic-gen/statistics.hpp"

#include "base/complain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

namespace ipoib::traffic {
namespace {

using Seconds = std::chrono::duration<double>;
constexpr auto between_bars = std::chrono::milliseconds{200};
constexpr unsigned usual_mask = 0xff;

/// "[#####     ] 50 %"
std::string bar(double part) {
    constexpr unsigned width = 30;
    const auto full = static_cast<unsigned>(std::clamp(part, 0.0, 1.0) * width);
    return fmt::format("[{:#<{}}{:<{}}] {:3.0f} %", "", full, "", width - full, 100 * std::clamp(part, 0.0, 1.0));
}

}  // namespace

Reporter::Reporter(const ReportOptions& options, std::function<Figures()> figures)
    : options_(options),
      figures_(std::move(figures)),
      has_bar_(!options.is_quiet && !options.is_json && conformance::progress_is_seen()),
      mask_(options.is_slow ? 0 : usual_mask),
      next_line_(begun_ + std::chrono::duration_cast<Clock::duration>(Seconds{options.interval})),
      next_bar_(begun_ + between_bars) {}

double Reporter::seconds() const { return Seconds(Clock::now() - begun_).count(); }

std::string Reporter::in_json(const Figures& now, double seconds) const {
    auto text = fmt::format(R"({{"seconds": {:.3f}, "packets": {}, "octets": {})", seconds, now.packets, now.octets);
    for (const auto& [name, value] : now.more) text += fmt::format(R"(, "{}": {})", name, value);
    return text + "}";
}

std::string Reporter::in_words(const Figures& now, double seconds) const {
    auto text = fmt::format("{} packets, {} octets", now.packets, now.octets);
    if (seconds > 0) text += fmt::format(", {:.0f} packets a second", static_cast<double>(now.packets) / seconds);
    for (const auto& [name, value] : now.more)
        if (value != 0) text += fmt::format(", {} {}", value, name);
    return text;
}

void Reporter::look() {
    const auto now = Clock::now();
    if (options_.interval > 0 && now >= next_line_ && !options_.is_quiet) {
        const auto at = seconds();
        const auto figures = figures_();
        bar_.clear();
        complain((options_.is_json ? in_json(figures, at) : fmt::format("{:8.1f} s  {}", at, in_words(figures, at))) +
                 '\n');
        const auto step = std::chrono::duration_cast<Clock::duration>(Seconds{options_.interval});
        next_line_ += step * ((now - next_line_) / step + 1);
    }
    if (!has_bar_ || now < next_bar_) return;
    next_bar_ = now + between_bars;
    const auto figures = figures_();
    const double by_count =
        options_.count ? static_cast<double>(figures.packets) / static_cast<double>(options_.count) : 0;
    const double by_time = options_.duration > 0 ? seconds() / options_.duration : 0;
    bar_.show(by_count > 0 || by_time > 0 ? fmt::format("{} {}", bar(std::max(by_count, by_time)), in_words(figures, 0))
                                          : in_words(figures, 0));
}

void Reporter::finish(const std::string& remark) {
    bar_.clear();
    if (options_.is_quiet) return;
    const auto at = seconds();
    const auto figures = figures_();
    complain((options_.is_json ? in_json(figures, at) : in_words(figures, 0) + remark) + '\n');
}

}  // namespace ipoib::traffic
