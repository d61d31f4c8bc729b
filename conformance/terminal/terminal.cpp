// SPDX-License-Identifier: GPL-2.0-or-later
// Progress and interruption.
#include "conformance/terminal/terminal.hpp"

#include "base/utf8.hpp"
#include "base/wrapped.hpp"
#include "fabric/capture/reader.hpp"
#include "fabric/loop.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>

namespace ipoib::conformance {

bool progress_is_seen() { return isatty(STDERR_FILENO) != 0; }

std::size_t output_width() {
    constexpr std::size_t usual = 100, least = 60, most = 160;
    winsize size{};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return usual;
    return std::clamp<std::size_t>(size.ws_col, least, most);
}

std::string for_terminal(std::string text) {
    if (isatty(STDOUT_FILENO) == 0) return text;
    const auto is_whole = [](std::string_view line) {
        line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
        const auto first = line.substr(0, line.find(' '));
        return line.find('\x1b') != std::string_view::npos || first == "repeat:" || first == "ipoib-conform" ||
               first.ends_with("/ipoib-conform");
    };
    std::string out;
    for (std::string_view rest = text; !rest.empty();) {
        const auto end = rest.find('\n');
        const auto line = rest.substr(0, end);
        out += is_whole(line) ? std::string(line) : fitted(line, output_width());
        if (end != std::string_view::npos) out += '\n';
        rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    }
    return out;
}

bool is_coloured(std::string_view when) {
    if (when != "auto") return when == "always";
    return isatty(STDOUT_FILENO) != 0 && !std::getenv("NO_COLOR");
}

void StatusLine::show(const std::string& text) {
    const auto width = columns(text);
    fmt::print(stderr, "\r{}{:{}}", text, "", shown_ > width ? shown_ - width : 0);
    std::fflush(stderr);
    shown_ = std::max(shown_, width);
}

void StatusLine::clear() {
    if (shown_ == 0) return;
    fmt::print(stderr, "\r{:{}}\r", "", shown_);
    std::fflush(stderr);
    shown_ = 0;
}

void ProgressBar::operator()(std::uint64_t position, std::uint64_t size) {
    const auto now = std::chrono::steady_clock::now();
    if (now - drawn_ < std::chrono::milliseconds{100}) return;
    drawn_ = now;
    constexpr std::size_t width = 40;
    const auto done = size ? std::min<std::size_t>(width, position * width / size) : 0;
    const auto percent = size ? fmt::format("{:3}%", std::min<std::uint64_t>(100, position * 100 / size)) : "";
    line_.show(fmt::format("[{:=<{}}{:<{}}] {} {} MiB", "", done, "", width - done, percent, position >> 20));
}

void stop_on_interrupt() {
    struct sigaction action {};
    action.sa_handler = [](int) {
        capture::request_stop();
        fabric::Loop::request_stop();
    };
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaction(signal, &action, nullptr);
}

}  // namespace ipoib::conformance
