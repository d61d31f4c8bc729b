// SPDX-License-Identifier: GPL-2.0-or-later
// The fabric-control protocol's side of the tester.
#include "fabric/socket/fabric_control.hpp"

#include "base/complain.hpp"
#include "base/json_object.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <stdexcept>

namespace ipoib::fabric {
namespace {

using Json = nlohmann::json;
constexpr Duration usual_deadline = std::chrono::seconds{10};
constexpr Duration longest_deadline = std::chrono::hours{1};
constexpr std::chrono::seconds time_to_restore{10}, time_to_end{2};

Duration deadline_of(const Json& request) {
    const auto found = request.find("deadline");
    if (found == request.end() || !found->is_number()) return usual_deadline;
    const auto longest = std::chrono::duration<double>(longest_deadline).count();
    const auto seconds = std::chrono::duration<double>(std::clamp(found->get<double>(), 0.0, longest));
    return std::chrono::duration_cast<Duration>(seconds);
}

}  // namespace

std::string refusal(const std::string& request, const std::string& error, const std::string& message) {
    Json answer{{"ok", false}, {"error", error}, {"message", message}};
    const auto json = object_in(request);
    if (json && json->contains("id")) answer["id"] = (*json)["id"];
    return json_line(answer);
}

FabricControlProcess::FabricControlProcess(Loop& loop, std::string command)
    : loop_(loop),
      command_(std::move(command)),
      process_(Command::shell(command_), ChildProcess::Diagnostics::to_a_pipe, {time_to_restore, time_to_end}) {
    if (!process_.error().empty())
        throw std::runtime_error("cannot start the fabric control command: " + process_.error());
    process_.hear = [this](std::string_view octets) { words_.hear(octets); };
    loop_.watch(process_.diagnostics.value(), POLLIN, [this](short) { hear_some(); });
}

FabricControlProcess::~FabricControlProcess() {
    unwatch();
    loop_.unwatch(process_.diagnostics.value());
}

std::string FabricControlProcess::ask(const std::string& request) {
    auto members = object_in(request);
    if (!members) return refusal(request, "failed", "the request is not a JSON object");
    auto& json = *members;
    if (!expected_.empty()) return refusal(request, "failed", "another request to the fabric control command is open");
    const bool has_id = json.contains("id");
    if (has_id && !json["id"].is_string() && !json["id"].is_number())
        return refusal(request, "failed", "the id of a request is a number or a string");
    if (!has_id) json["id"] = "control-" + std::to_string(++last_id_);
    out_ = json_line(json) + '\n';
    if (out_.size() > longest_line) return refusal(request, "failed", "the request is longer than 64 KiB");
    if (problem_.empty()) {
        expected_ = json_line(json["id"]);
        answer_.clear();
        const auto patience = deadline_of(json);
        watch();
        loop_.run_until([this] { return !answer_.empty() || !problem_.empty(); }, loop_.now() + patience);
        unwatch();
        expected_.clear();
        // What is written in part only would garble the next request.
        if (answer_.empty() && problem_.empty() && !out_.empty()) give_up("it does not read its requests");
        if (!answer_.empty()) return answer_;
    }
    const std::string why = problem_.empty() ? "did not answer in time" : problem_;
    return refusal(request, "failed", "the fabric control command \"" + command_ + "\": " + why);
}

void FabricControlProcess::watch() {
    loop_.watch(process_.output.value(), POLLIN, [this](short) { read_some(); });
    loop_.watch(process_.input.value(), POLLOUT, [this](short) { write_some(); });
}

void FabricControlProcess::unwatch() {
    loop_.unwatch(process_.input.value());
    loop_.unwatch(process_.output.value());
}

void FabricControlProcess::write_some() {
    const auto count = process_.write(out_);
    // One that has ended may have answered before: what it wrote is read.
    if (count < 0 && errno != EAGAIN && errno != EINTR) out_.clear();
    if (count > 0) out_.erase(0, static_cast<std::size_t>(count));
    if (out_.empty()) loop_.unwatch(process_.input.value());
}

void FabricControlProcess::read_some() {
    constexpr std::size_t piece = 16384;
    std::array<char, piece> octets;
    const auto count = ::read(process_.output.value(), octets.data(), octets.size());
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (count <= 0) return give_up(end_text());
    lines_.feed({octets.data(), static_cast<std::size_t>(count)});
    while (const auto line = lines_.next()) take_line(*line);
    if (lines_.rest().size() > longest_line) give_up("its answer is longer than 64 KiB");
}

void FabricControlProcess::hear_some() {
    std::array<char, 4096> octets;
    const auto count = ::read(process_.diagnostics.value(), octets.data(), octets.size());
    if (count > 0) words_.hear({octets.data(), static_cast<std::size_t>(count)});
    if (count == 0) loop_.unwatch(process_.diagnostics.value());
}

void FabricControlProcess::Words::hear(std::string_view octets) {
    lines.feed(octets);
    if (lines.rest().size() > longest_line) lines.feed("\n");
    while (const auto line = lines.next()) complain(*line + '\n');
}

FabricControlProcess::Words::~Words() {
    if (!lines.rest().empty()) hear("\n");
}

/// Answers to requests that were given up are passed over.
void FabricControlProcess::take_line(const std::string& line) {
    if (expected_.empty() || !answer_.empty() || line.find_first_not_of(" \t\r") == std::string::npos) return;
    if (line.size() > longest_line) return give_up("its answer is longer than 64 KiB");
    const auto json = object_in(line);
    if (!json) return give_up("its answer is not a JSON object");
    const auto id = json->find("id"), ok = json->find("ok"), error = json->find("error");
    if (id == json->end()) return give_up("its answer has no id");
    if (id->is_structured() || json_line(*id) != expected_) return;
    const bool is_ok = ok != json->end() && ok->is_boolean() && ok->get<bool>();
    if (!is_ok && (error == json->end() || !error->is_string()))
        return give_up("its answer has neither \"ok\": true nor an error");
    answer_ = line;
}

void FabricControlProcess::give_up(const std::string& why) {
    if (problem_.empty()) problem_ = why;
    unwatch();
}

std::string FabricControlProcess::end_text() {
    constexpr std::chrono::milliseconds soon = std::chrono::seconds{1};
    const auto ending = process_.ending(soon);
    if (!ending) return "it closed its output";
    if (ending->signal != 0) return "it was ended by signal " + std::to_string(ending->signal);
    return "it ended with status " + std::to_string(ending->status);
}

}  // namespace ipoib::fabric
