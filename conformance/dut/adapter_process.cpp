// SPDX-License-Identifier: GPL-2.0-or-later
// Requests to an adapter process and its answers, by pipes that the loop watches. interfaces.md, "DUT control".
#include "conformance/dut/adapter_process.hpp"

#include "conformance/dut/answer.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace ipoib::conformance {
namespace {

constexpr std::size_t kib = 1024, portion = 64 * kib, kept_diagnostics = 64 * kib, most_diagnostics = 16 * kib * kib;
constexpr std::chrono::milliseconds look_again{100}, look_for_stopped{500}, for_its_end{500};

std::string seconds_text(fabric::Duration duration) {
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
    auto text = std::to_string(ms / 1000);
    if (ms % 1000) text += '.' + std::to_string(1000 + ms % 1000).substr(1);
    return text + " s";
}

}  // namespace

AdapterProcess::AdapterProcess(fabric::Loop& loop, const std::string& command, std::chrono::milliseconds grace,
                               Remark remark)
    : loop_(loop),
      process_(Command::shell(command), ChildProcess::Diagnostics::to_a_pipe, {grace, grace}),
      remark_(std::move(remark)) {
    process_.tell = remark_;
    if (!process_.error().empty()) {
        error_ = "the adapter could not be started: " + process_.error();
        return;
    }
    loop_.watch(process_.output.value(), POLLIN, [this](short) { read_output(); });
    loop_.watch(process_.diagnostics.value(), POLLIN, [this](short) {
        read_diagnostics();
        if (diagnostics_count_ <= most_diagnostics) return;
        loop_.unwatch(process_.diagnostics.value());
        fail("floods its standard error");
    });
}

AdapterProcess::~AdapterProcess() {
    for (const auto* const stream : {&process_.input, &process_.output, &process_.diagnostics})
        loop_.unwatch(stream->value());
}

void AdapterProcess::fail(const std::string& why) {
    if (!error_.empty()) return;
    error_ = "the adapter " + why + last_words();
    // Whatever it does from now on, it does not keep the loop busy.
    loop_.unwatch(process_.input.value());
    loop_.unwatch(process_.output.value());
}

DutControlReply AdapterProcess::ask(const std::string& request, fabric::Duration patience) {
    answer_.reset();
    if (error_.empty() && fabric::Loop::stop_requested()) return {.line = {}, .error = "interrupted"};
    if (error_.empty()) begin(request);
    auto deadline = loop_.now() + patience;
    auto next_look = loop_.now() + look_for_stopped;
    while (!is_settled()) {
        loop_.run_until([this] { return is_settled() || has_closed_; }, std::min(deadline, loop_.now() + look_again));
        if (is_settled()) break;
        look_for_end();
        if (loop_.now() >= std::min(next_look, deadline)) {
            if (waits_for_stopped()) deadline = loop_.now() + patience;
            next_look = loop_.now() + look_for_stopped;
        }
        if (fabric::Loop::stop_requested()) fail("was interrupted in its work");
        if (loop_.now() >= deadline) fail("did not answer within " + seconds_text(patience));
    }
    is_asked_ = false;
    if (answer_) return {.line = *answer_, .error = {}};
    return {.line = {}, .error = error_};
}

bool AdapterProcess::waits_for_stopped() {
    const auto who = process_.stopped();
    if (who.empty()) return false;
    const auto tell = [this](const std::string& text) {
        if (remark_) remark_(text);
    };
    tell("the DUT's " + who + " is stopped, by a debugger or SIGSTOP: waiting until it goes on");
    while (!process_.stopped().empty() && !fabric::Loop::stop_requested())
        loop_.run_until([] { return fabric::Loop::stop_requested(); }, loop_.now() + look_again);
    tell("the DUT's " + who + " is not stopped any more");
    return true;
}

void AdapterProcess::begin(const std::string& request) {
    diagnostics_count_ = 0;
    read_output();
    if (!lines_.rest().empty()) fail("wrote without being asked: " + excerpt(lines_.rest()));
    if (!error_.empty()) return;
    is_asked_ = true;
    unwritten_ = request + '\n';
    write_request();
}

void AdapterProcess::write_request() {
    const int descriptor = process_.input.value();
    const auto count = process_.write(unwritten_);
    if (count > 0) unwritten_.erase(0, static_cast<std::size_t>(count));
    if (count < 0 && errno != EAGAIN && errno != EINTR) has_closed_ = true;
    if (unwritten_.empty() || has_closed_)
        loop_.unwatch(descriptor);
    else
        loop_.watch(descriptor, POLLOUT, [this](short) { write_request(); });
}

bool AdapterProcess::read_output() {
    std::array<char, portion> buffer;
    const auto count = ::read(process_.output.value(), buffer.data(), buffer.size());
    if (count < 0) return false;
    if (count == 0) {
        has_closed_ = true;
        loop_.unwatch(process_.output.value());
        return false;
    }
    lines_.feed({buffer.data(), static_cast<std::size_t>(count)});
    take_lines();
    return true;
}

void AdapterProcess::take_lines() {
    while (error_.empty()) {
        auto line = lines_.next();
        if (!line) break;
        if (line->size() > longest_control_line)
            fail("wrote a line longer than 64 KiB: " + excerpt(*line));
        else if (!is_asked_ || answer_)
            fail("wrote a line without being asked: " + excerpt(*line));
        else
            answer_ = std::move(line);
    }
    if (lines_.rest().size() > longest_control_line)
        fail("writes a line longer than 64 KiB: " + excerpt(lines_.rest()));
}

bool AdapterProcess::read_diagnostics() {
    std::array<char, portion> buffer;
    const auto count = ::read(process_.diagnostics.value(), buffer.data(), buffer.size());
    if (count < 0) return false;
    if (count == 0) {
        loop_.unwatch(process_.diagnostics.value());
        return false;
    }
    diagnostics_.append(buffer.data(), static_cast<std::size_t>(count));
    if (diagnostics_.size() > kept_diagnostics) {
        left_out_ += diagnostics_.size() - kept_diagnostics;
        diagnostics_.erase(0, diagnostics_.size() - kept_diagnostics);
    }
    diagnostics_count_ += static_cast<std::size_t>(count);
    return true;
}

void AdapterProcess::look_for_end() {
    if (!has_closed_ && !process_.has_ended()) return;
    while (!is_settled() && read_output()) {
    }
    if (is_settled()) return;
    const auto ending = process_.ending(for_its_end);
    const auto cut = lines_.rest().empty() ? "" : ", in the middle of a line: " + excerpt(lines_.rest());
    fail((ending ? "died: " + ending->text() : "closed its pipe, but still runs") + cut);
}

std::string AdapterProcess::last_words() {
    for (unsigned portions = 0; portions < 4 && error_.empty() && read_diagnostics(); ++portions) {
    }
    const auto end = diagnostics_.find_last_not_of(" \t\r\n");
    if (end == std::string::npos) return {};
    const auto begin = diagnostics_.find_last_of('\n', end) + 1;
    return "; its last words: " + excerpt(std::string_view(diagnostics_).substr(begin, end + 1 - begin));
}

std::string AdapterProcess::diagnostics() {
    for (auto left = 2 * kept_diagnostics / portion; left > 0 && read_diagnostics(); --left) {
    }
    diagnostics_count_ = 0;
    auto text = std::exchange(diagnostics_, {});
    if (const auto count = std::exchange(left_out_, 0))
        text = "[" + std::to_string(count) + " octets before this are left out]\n" + text;
    return text;
}

}  // namespace ipoib::conformance
