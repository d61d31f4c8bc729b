// SPDX-License-Identifier: GPL-2.0-or-later
// The server's side of the line protocols.
#include "conformance/dut/linux/line_protocol.hpp"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <stdexcept>

namespace ipoib::host {
namespace {

using Clock = std::chrono::steady_clock;

std::string line_of(const Json& answer) { return answer.dump(-1, ' ', true, Json::error_handler_t::replace); }

Json refusal(const Json& id, std::string_view error, std::string_view message) {
    return {{"id", id}, {"error", error}, {"message", message}};
}

bool write_all(std::string_view text) {
    while (!text.empty()) {
        const auto count = ::write(STDOUT_FILENO, text.data(), text.size());
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return false;
        text.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
}

}  // namespace

void fail(std::string message) { throw Refusal{false, std::move(message)}; }
void refuse_as_unsupported(std::string message) { throw Refusal{true, std::move(message)}; }

const Json& Request::at(const char* name) const {
    const auto found = members_.find(name);
    if (found == members_.end()) fail(std::string("\"") + name + "\" is missing");
    return *found;
}

std::string Request::line() const { return line_of(members_); }

std::string Request::text(const char* name) const {
    const auto& value = at(name);
    if (!value.is_string()) fail(std::string("\"") + name + "\" is not text");
    auto text = value.get<std::string>();
    if (text.find('\0') != std::string::npos) fail(std::string("\"") + name + "\" holds a zero octet");
    return text;
}

bool Request::flag(const char* name) const {
    const auto& value = at(name);
    if (!value.is_boolean()) fail(std::string("\"") + name + "\" is neither true nor false");
    return value.get<bool>();
}

std::uint64_t Request::number(const char* name, std::uint64_t least, std::uint64_t most) const {
    const auto& value = at(name);
    std::optional<std::uint64_t> number;
    if (value.is_number_unsigned()) number = value.get<std::uint64_t>();
    if (value.is_string()) {
        const auto text = value.get<std::string>();
        const auto* begin = text.data() + (text.starts_with("0x") ? 2 : 0);
        const auto* end = text.data() + text.size();
        std::uint64_t read = 0;
        const auto [stopped, error] = std::from_chars(begin, end, read, 16);
        if (error == std::errc{} && stopped == end) number = read;
    }
    if (!number || *number < least || *number > most)
        fail(std::string("\"") + name + "\" is no number from " + std::to_string(least) + " to " +
             std::to_string(most));
    return *number;
}

double Request::real(const char* name, double most) const {
    const auto& value = at(name);
    const double real = value.is_number() ? value.get<double>() : -1;
    if (!(real >= 0 && real <= most))
        fail(std::string("\"") + name + "\" is not between 0 and " + std::to_string(most));
    return real;
}

milliseconds Request::patience() const {
    constexpr double usual = 10, longest = 3600, share = 900;  // of a second, in ms
    const auto found = members_.find("deadline");
    const bool is_given = found != members_.end() && found->is_number() && found->get<double>() > 0;
    return milliseconds{
        static_cast<std::int64_t>((is_given ? std::min(found->get<double>(), longest) : usual) * share)};
}

std::string answer_to(const Handlers& handlers, std::string_view line) {
    const auto members = Json::parse(line, nullptr, false);
    if (!members.is_object()) return line_of(refusal(nullptr, "failed", "the request is not a JSON object"));
    const auto found = members.find("id");
    const bool has_id = found != members.end() && (found->is_string() || found->is_number());
    const Json id = has_id ? *found : Json{};
    const auto what = members.find("do");
    if (!has_id || what == members.end() || !what->is_string())
        return line_of(refusal(id, "failed", "a request has \"id\" and \"do\""));
    try {
        const auto handler = handlers.find(what->get<std::string>());
        if (handler == handlers.end()) refuse_as_unsupported("there is no such request");
        Json answer{{"id", id}, {"ok", true}};
        answer.update(handler->second(Request{members}));
        auto text = line_of(answer);
        if (text.size() > Lines::longest) fail("the answer would be longer than 64 KiB");
        return text;
    } catch (const Refusal& refused) {
        return line_of(refusal(id, refused.is_unsupported ? "unsupported" : "failed", refused.message));
    } catch (const std::exception& error) {
        return line_of(refusal(id, "failed", error.what()));
    }
}

std::optional<Lines::Line> Lines::next() {
    for (;;) {
        const auto end = text_.find('\n');
        if (end == std::string::npos) {
            if (text_.size() <= longest) return {};
            text_.clear();
            if (std::exchange(is_skipping_, true)) return {};
            return Line{{}, true};
        }
        Line line{text_.substr(0, end), end > longest};
        text_.erase(0, end + 1);
        if (std::exchange(is_skipping_, false)) continue;  // the rest of a line that was told
        if (line.is_too_long) line.text.clear();
        return line;
    }
}

Interruption::Interruption() {
    sigset_t signals;
    ::sigemptyset(&signals);
    for (const int signal : {SIGTERM, SIGINT, SIGHUP}) ::sigaddset(&signals, signal);
    ::sigprocmask(SIG_BLOCK, &signals, nullptr);
    ::signal(SIGPIPE, SIG_IGN);
    signals_ = Descriptor{::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK)};
    if (!signals_) throw std::runtime_error("signalfd: " + error_text(errno));
}

bool Interruption::comes_within(milliseconds patience) const {
    // No events asked for: a pipe without a writer tells so all the same.
    std::array<pollfd, 2> polled{{{signals_.value(), POLLIN, 0}, {STDIN_FILENO, 0, 0}}};
    const auto time = static_cast<int>(std::max<milliseconds::rep>(0, patience.count()));
    return ::poll(polled.data(), polled.size(), time) > 0;
}

bool wait_until(const Interruption& interruption, milliseconds patience, const std::function<bool()>& condition) {
    constexpr milliseconds longest{200};
    milliseconds pause{10};
    const auto until = Clock::now() + patience;
    while (!condition()) {
        const auto left = std::chrono::duration_cast<milliseconds>(until - Clock::now());
        if (left.count() <= 0 || interruption.comes_within(std::min(pause, left))) return false;
        pause = std::min(pause * 2, longest);
    }
    return true;
}

void serve(const Handlers& handlers, const Interruption& interruption) {
    Lines lines;
    std::array<char, 16384> buffer;
    for (;;) {
        while (const auto line = lines.next()) {
            if (line->text.empty() && !line->is_too_long) continue;
            const auto answer = line->is_too_long
                                    ? line_of(refusal(nullptr, "failed", "the request is longer than 64 KiB"))
                                    : answer_to(handlers, line->text);
            if (!write_all(answer + '\n')) return;
        }
        std::array<pollfd, 2> polled{{{interruption.descriptor(), POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}}};
        if (::poll(polled.data(), polled.size(), -1) < 0 && errno != EINTR) return;
        if (polled[0].revents) return;
        if (!polled[1].revents) continue;
        const auto count = ::read(STDIN_FILENO, buffer.data(), buffer.size());
        if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (count <= 0) return;
        lines.feed({buffer.data(), static_cast<std::size_t>(count)});
    }
}

}  // namespace ipoib::host
