// SPDX-License-Identifier: GPL-2.0-or-later
// The fabric-control protocol's side of the tester.
#include "fabric/socket/fabric_control.hpp"

#include "fabric/socket/reason.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <system_error>

namespace ipoib::fabric {
namespace {

using Json = nlohmann::json;
constexpr Duration usual_deadline = std::chrono::seconds{10};
constexpr Duration longest_deadline = std::chrono::hours{1};

/// Whether no value lies deeper than any request or answer needs: handling JSON recurses.
bool is_shallow(const std::string& text) {
    constexpr int most = 32;
    int depth = 0;
    bool is_string = false;
    for (std::size_t i = 0; i < text.size() && depth <= most; ++i) {
        const char c = text[i];
        if (is_string && c == '\\') ++i;
        if (c == '"') is_string = !is_string;
        if (!is_string) depth += (c == '[' || c == '{') - (c == ']' || c == '}');
    }
    return depth <= most;
}

/// Discarded when the text is no JSON object, or one nested too deep.
Json object_of(const std::string& text) {
    if (is_shallow(text))
        if (auto json = Json::parse(text, nullptr, false); json.is_object()) return json;
    return Json(Json::value_t::discarded);
}

std::string line_of(const Json& json) { return json.dump(-1, ' ', true, Json::error_handler_t::replace); }

Duration deadline_of(const Json& request) {
    const auto found = request.find("deadline");
    if (found == request.end() || !found->is_number()) return usual_deadline;
    const auto longest = std::chrono::duration<double>(longest_deadline).count();
    const auto seconds = std::chrono::duration<double>(std::clamp(found->get<double>(), 0.0, longest));
    return std::chrono::duration_cast<Duration>(seconds);
}

/// Its input and output are `descriptor`, and it leads a process group of its own: a key that stops the tester does not
/// stop it before the tester has cleaned up.
pid_t spawn(const std::string& command, int descriptor) {
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawnattr_init(&attributes);
    ::posix_spawn_file_actions_adddup2(&files, descriptor, STDIN_FILENO);
    ::posix_spawn_file_actions_adddup2(&files, descriptor, STDOUT_FILENO);
    sigset_t none, usual;
    ::sigemptyset(&none);
    ::sigemptyset(&usual);
    for (const int signal : {SIGINT, SIGTERM, SIGPIPE, SIGHUP}) ::sigaddset(&usual, signal);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setsigdefault(&attributes, &usual);
    ::posix_spawnattr_setpgroup(&attributes, 0);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);

    std::string shell = "sh", option = "-c", text = command;
    const std::array<char*, 4> arguments{shell.data(), option.data(), text.data(), nullptr};
    pid_t process = -1;
    const int error = ::posix_spawn(&process, "/bin/sh", &files, &attributes, arguments.data(), environ);
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&files);
    if (error != 0) throw std::runtime_error("cannot start the fabric control command: " + reason(error));
    return process;
}

}  // namespace

std::string refusal(const std::string& request, const std::string& error, const std::string& message) {
    Json answer{{"ok", false}, {"error", error}, {"message", message}};
    const auto json = object_of(request);
    if (json.is_object() && json.contains("id")) answer["id"] = json["id"];
    return line_of(answer);
}

FabricControlProcess::FabricControlProcess(Loop& loop, std::string command)
    : loop_(loop), command_(std::move(command)) {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
        throw std::runtime_error("cannot start the fabric control command: " + reason(errno));
    ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
    try {
        process_ = spawn(command_, ends[1]);
    } catch (...) {
        ::close(ends[0]);
        ::close(ends[1]);
        throw;
    }
    descriptor_ = ends[0];
    ::close(ends[1]);
}

FabricControlProcess::~FabricControlProcess() {
    constexpr Duration time_to_restore = std::chrono::seconds{10}, time_to_end = std::chrono::seconds{2};
    loop_.unwatch(descriptor_);
    ::shutdown(descriptor_, SHUT_WR);
    int status = 0;
    bool has_ended = process_ < 0 || waits_for_end(time_to_restore, status);
    for (const int signal : {SIGTERM, SIGKILL}) {
        if (has_ended) break;
        ::kill(-process_, signal);
        has_ended = waits_for_end(time_to_end, status);
    }
    ::close(descriptor_);
}

/// What it still says is read, so that it is not stopped by an output that is full or broken.
bool FabricControlProcess::waits_for_end(Duration patience, int& status) const {
    const auto end = loop_.now() + patience;
    constexpr int pause = 5;  // ms
    std::array<char, 4096> unheard;
    bool is_open = true;
    while (true) {
        const auto ended = ::waitpid(process_, &status, WNOHANG);
        if (ended == process_ || (ended < 0 && errno != EINTR)) return true;
        if (loop_.now() >= end) return false;
        pollfd entry{is_open ? descriptor_ : -1, POLLIN, 0};
        if (::poll(&entry, 1, pause) > 0) is_open = ::recv(descriptor_, unheard.data(), unheard.size(), 0) > 0;
    }
}

std::string FabricControlProcess::ask(const std::string& request) {
    auto json = object_of(request);
    if (json.is_discarded()) return refusal(request, "failed", "the request is not a JSON object");
    if (!expected_.empty()) return refusal(request, "failed", "another request to the fabric control command is open");
    const bool has_id = json.contains("id");
    if (has_id && !json["id"].is_string() && !json["id"].is_number())
        return refusal(request, "failed", "the id of a request is a number or a string");
    if (!has_id) json["id"] = "control-" + std::to_string(++last_id_);
    out_ = line_of(json) + '\n';
    if (out_.size() > longest_line) return refusal(request, "failed", "the request is longer than 64 KiB");
    if (problem_.empty()) {
        expected_ = line_of(json["id"]);
        answer_.clear();
        const auto patience = deadline_of(json);
        watch();
        loop_.run_until([this] { return !answer_.empty() || !problem_.empty(); }, loop_.now() + patience);
        loop_.unwatch(descriptor_);
        expected_.clear();
        // What is written in part only would garble the next request.
        if (answer_.empty() && problem_.empty() && !out_.empty()) give_up("it does not read its requests");
        if (!answer_.empty()) return answer_;
    }
    const std::string why = problem_.empty() ? "did not answer in time" : problem_;
    return refusal(request, "failed", "the fabric control command \"" + command_ + "\": " + why);
}

void FabricControlProcess::watch() {
    const auto events = static_cast<short>(POLLIN | (out_.empty() ? 0 : POLLOUT));
    loop_.watch(descriptor_, events, [this](short found) { serve(found); });
}

void FabricControlProcess::serve(short events) {
    if (events & POLLOUT) write_some();
    const bool is_readable = (events & (POLLIN | POLLHUP | POLLERR)) != 0;
    if (is_readable && problem_.empty()) read_some();
}

void FabricControlProcess::write_some() {
    const auto count = ::send(descriptor_, out_.data(), out_.size(), MSG_NOSIGNAL);
    // One that has ended may have answered before: what it wrote is read.
    if (count < 0 && errno != EAGAIN && errno != EINTR) out_.clear();
    if (count > 0) out_.erase(0, static_cast<std::size_t>(count));
    if (out_.empty()) watch();
}

void FabricControlProcess::read_some() {
    constexpr std::size_t piece = 16384;
    std::array<char, piece> octets;
    const auto count = ::recv(descriptor_, octets.data(), octets.size(), 0);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (count <= 0) return give_up(end_text());
    in_.append(octets.data(), static_cast<std::size_t>(count));
    std::size_t at = 0;
    for (auto end = in_.find('\n'); end != std::string::npos; end = in_.find('\n', at)) {
        take_line(in_.substr(at, end - at));
        at = end + 1;
    }
    in_.erase(0, at);
    if (in_.size() > longest_line) give_up("its answer is longer than 64 KiB");
}

/// Answers to requests that were given up are passed over.
void FabricControlProcess::take_line(const std::string& line) {
    if (expected_.empty() || !answer_.empty() || line.find_first_not_of(" \t\r") == std::string::npos) return;
    const auto json = object_of(line);
    if (json.is_discarded()) return give_up("its answer is not a JSON object");
    const auto id = json.find("id"), ok = json.find("ok"), error = json.find("error");
    if (id == json.end()) return give_up("its answer has no id");
    if (id->is_structured() || line_of(*id) != expected_) return;
    const bool is_ok = ok != json.end() && ok->is_boolean() && ok->get<bool>();
    if (!is_ok && (error == json.end() || !error->is_string()))
        return give_up("its answer has neither \"ok\": true nor an error");
    answer_ = line;
}

void FabricControlProcess::give_up(const std::string& why) {
    if (problem_.empty()) problem_ = why;
    loop_.unwatch(descriptor_);
}

std::string FabricControlProcess::end_text() {
    constexpr Duration soon = std::chrono::seconds{1};
    int status = 0;
    if (!waits_for_end(soon, status)) return "it closed its output";
    process_ = -1;
    if (WIFSIGNALED(status)) return "it was ended by signal " + std::to_string(WTERMSIG(status));
    return "it ended with status " + std::to_string(WEXITSTATUS(status));
}

}  // namespace ipoib::fabric
