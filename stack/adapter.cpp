// SPDX-License-Identifier: GPL-2.0-or-later
// The DUT control protocol: requests taken apart, handlers found, answers written.
#include "stack/adapter.hpp"

#include "base/json_object.hpp"
#include "stack/adapter_request.hpp"

#include <algorithm>

namespace ipoib::stack {
namespace adapter {

void Reply::ok(json results) const {
    results["id"] = id_;
    results["ok"] = true;
    answer_(json_line(results));
}

void Reply::refuse(std::string_view error, std::string_view message) const {
    const json answer{{"id", id_}, {"error", error}, {"message", message}};
    answer_(json_line(answer));
}

std::optional<std::string> Request::text(const char* name) const {
    const auto found = members.find(name);
    if (found == members.end() || !found->is_string()) return {};
    return found->get<std::string>();
}

std::optional<std::uint64_t> Request::number(const char* name, std::uint64_t least, std::uint64_t most) const {
    const auto found = members.find(name);
    if (found == members.end()) return {};
    const auto value = number_in(*found);
    return value && *value >= least && *value <= most ? value : std::nullopt;
}

std::optional<wire::IpAddress> Request::address(const char* name) const {
    const auto value = text(name);
    return value ? wire::parse_ip(*value) : std::nullopt;
}

fabric::Duration Request::patience() const {
    constexpr double usual = 10, longest = 3600, share = 0.9;
    const auto found = members.find("deadline");
    const bool is_given = found != members.end() && found->is_number() && found->get<double>() > 0;
    const auto seconds = is_given ? std::min(found->get<double>(), longest) : usual;
    return std::chrono::duration_cast<fabric::Duration>(std::chrono::duration<double>(seconds * share));
}

std::vector<std::string> abilities() {
    std::vector<std::string> names;
    for (const auto& requests : {interface_requests(), traffic_requests(), node_requests()})
        for (const auto& entry : requests) names.emplace_back(entry.name);
    std::sort(names.begin(), names.end());
    return names;
}

namespace {

/// An answer is given when nothing of the stack is on the call stack any more: whoever hears it may ask for anything,
/// the end of the interface included.
struct Pending {
    Adapter::Answer answer;
    bool is_within = true;  ///< the request is still being carried out
    std::optional<std::string> line{};
};

Handler handler_of(std::string_view name) {
    for (const auto& requests : {interface_requests(), traffic_requests(), node_requests()})
        for (const auto& entry : requests)
            if (entry.name == name) return entry.handler;
    return nullptr;
}

}  // namespace
}  // namespace adapter

void Adapter::request(std::string_view line, Answer answer) {
    using namespace adapter;
    const auto pending = std::make_shared<Pending>(Pending{std::move(answer)});
    carry_out(line, [pending, &loop = node_.loop()](std::string text) {
        if (pending->is_within) {
            pending->line = std::move(text);
        } else {
            loop.after({}, [pending, text = std::move(text)] { pending->answer(text); });
        }
    });
    pending->is_within = false;
    if (pending->line) pending->answer(*pending->line);
}

void Adapter::carry_out(std::string_view line, Answer answer) {
    using namespace adapter;
    if (line.size() > longest_request) return Reply{nullptr, std::move(answer)}.failed("the request is too long");
    const auto object = object_in(line);
    if (!object) return Reply{nullptr, std::move(answer)}.failed("the request is not a JSON object");
    const auto& members = *object;
    const auto id = members.find("id");
    const bool has_id = id != members.end() && id->is_primitive();
    const Reply reply{has_id ? *id : json{}, std::move(answer)};
    const auto what = members.find("do");
    if (!has_id || what == members.end() || !what->is_string()) return reply.failed("a request has \"id\" and \"do\"");
    const auto name = what->get<std::string>();
    const auto handler = handler_of(name);
    if (!handler) return reply.unsupported("no such request: " + name);
    const auto named = members.find("interface");
    if (named != members.end() && !named->is_string()) return reply.failed("\"interface\" is not text");
    auto* interface = named == members.end() ? &node_.interface() : node_.find(named->get<std::string>());
    if (!interface) return reply.failed("no such interface");
    handler({node_, *interface, members, reply, driver_});
}

}  // namespace ipoib::stack
