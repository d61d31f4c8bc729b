// SPDX-License-Identifier: GPL-2.0-or-later
// Requests and answers of the fabric-control protocol, read from hostile text.
#include "fabric/change/change.hpp"
#include "protocol/wire/text.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <nlohmann/json.hpp>

namespace ipoib::fabric {
namespace {

using Json = nlohmann::json;

[[noreturn]] void fail(const std::string& message) { throw ChangeRefused(false, message); }

/// Discarded when the text is no JSON object. Nothing in it is nested: what is, is given up at once, since handling it
/// recurses.
Json object_of(const std::string& text) {
    constexpr int deepest = 8;
    bool is_deep = false;
    const auto keep = [&](int depth, Json::parse_event_t, Json&) {
        is_deep = is_deep || depth > deepest;
        return !is_deep;
    };
    auto json = Json::parse(text, keep, false);
    if (!is_deep && json.is_object()) return json;
    return Json(Json::value_t::discarded);
}

std::optional<std::uint64_t> from_hex(std::string_view text) {
    constexpr int hexadecimal = 16;
    if (text.starts_with("0x")) text.remove_prefix(2);
    std::uint64_t value = 0;
    const auto* const end = text.data() + text.size();
    const auto [at, error] = std::from_chars(text.data(), end, value, hexadecimal);
    if (error != std::errc{} || at != end) return {};
    return value;
}

/// The members of a request, each checked as it is read.
class Request {
public:
    explicit Request(const Json& json) : json_(json) {}

    [[nodiscard]] bool has(const char* member) const { return json_.contains(member); }
    [[nodiscard]] std::string text(const char* member) const {
        const auto& value = at(member);
        if (!value.is_string()) fail(std::string(member) + " is not a string");
        return value.get<std::string>();
    }
    /// One of two words: whether it is the first.
    [[nodiscard]] bool is_first(const char* member, std::string_view first, std::string_view second) const {
        const auto word = text(member);
        if (word != first && word != second)
            fail(std::string(member) + " is neither " + std::string(first) + " nor " + std::string(second));
        return word == first;
    }
    [[nodiscard]] bool flag(const char* member) const {
        const auto& value = at(member);
        if (!value.is_boolean()) fail(std::string(member) + " is neither true nor false");
        return value.get<bool>();
    }
    /// A number, or a string of hexadecimal digits with or without 0x.
    template <class T>
    [[nodiscard]] T number(const char* member) const {
        constexpr std::uint64_t most = std::numeric_limits<T>::max();
        const auto& value = at(member);
        std::optional<std::uint64_t> number;
        if (value.is_number_unsigned()) number = value.get<std::uint64_t>();
        if (value.is_string()) number = from_hex(value.get<std::string>());
        if (!number || *number > most) fail(std::string(member) + " is not a number up to " + std::to_string(most));
        return static_cast<T>(*number);
    }
    [[nodiscard]] double real(const char* member, double most) const {
        const auto& value = at(member);
        const double real = value.is_number() ? value.get<double>() : -1;
        if (!(real >= 0 && real <= most)) fail(std::string(member) + " is not between 0 and " + std::to_string(most));
        return real;
    }
    [[nodiscard]] double probability(const char* member) const { return has(member) ? real(member, 1) : 0; }
    [[nodiscard]] wire::Gid gid(const char* member) const {
        const auto gid = wire::parse_gid(text(member));
        if (!gid) fail(std::string(member) + " is no GID");
        return *gid;
    }
    [[nodiscard]] Duration milliseconds(const char* member) const {
        constexpr double an_hour = 3'600'000, nanoseconds = 1'000'000;
        return Duration{static_cast<Duration::rep>(real(member, an_hour) * nanoseconds)};
    }
    [[nodiscard]] PortName port() const {
        if (has("guid")) return {.guid = number<std::uint64_t>("guid")};
        return {.lid = number<std::uint16_t>("lid")};
    }

private:
    [[nodiscard]] const Json& at(const char* member) const {
        if (!json_.contains(member)) fail(std::string(member) + " is missing");
        return json_.at(member);
    }
    const Json& json_;
};

FabricChange scenario(const Request& request) { return SetScenario{request.text("name")}; }
FabricChange manager(const Request& request) {
    const bool keeps_state = request.has("keeps_state") && request.flag("keeps_state");
    return SetManager{request.is_first("state", "start", "stop"), keeps_state};
}
FabricChange port(const Request& request) {
    const bool is_up = request.is_first("state", "up", "down");
    return SetPort{request.port(), is_up};
}
FabricChange p_key(const Request& request) {
    const bool adds = request.has("add");
    return SetPKey{request.port(), request.number<std::uint16_t>(adds ? "add" : "remove"), adds};
}
FabricChange sa(const Request& request) {
    SetSa change{.resets = request.has("reset") && request.flag("reset")};
    if (request.has("delay_ms")) change.delay = request.milliseconds("delay_ms");
    if (request.has("silent")) change.is_silent = request.flag("silent");
    if (request.has("drop_next")) change.drop_next = request.number<std::uint32_t>("drop_next");
    if (request.has("busy_next")) change.busy_next = request.number<std::uint32_t>("busy_next");
    if (request.has("refuse_joins")) change.refuse_joins = request.number<std::uint16_t>("refuse_joins");
    if (request.has("refuse_only")) change.refuse_only = request.gid("refuse_only");
    return change;
}
FabricChange group(const Request& request) {
    if (request.has("delete")) return SetGroup{request.gid("delete"), false};
    const auto mgid = request.gid("create");
    if (!mgid.is_multicast()) fail("a group's GID begins with ff");
    return SetGroup{mgid, true};
}
FabricChange path(const Request& request) {
    return SetPath{request.gid("gid"), request.has("lid") ? request.number<std::uint16_t>("lid") : std::uint16_t{0}};
}
FabricChange faults(const Request& request) {
    LinkFaults faults{.loss = request.probability("loss"),
                      .duplication = request.probability("duplication"),
                      .reordering = request.probability("reordering"),
                      .corruption = request.probability("corruption")};
    if (request.has("delay_ms")) faults.delay = request.milliseconds("delay_ms");
    if (request.has("spares_management")) faults.spares_management = request.flag("spares_management");
    return SetFaults{request.port(), faults};
}
FabricChange restore(const Request&) { return Restore{}; }

/// In the order of FabricChange.
constexpr std::array<FabricChange (*)(const Request&), change_verbs.size()> readers{
    scenario, manager, port, p_key, sa, group, path, faults, restore};

}  // namespace

FabricChange parse_change(const std::string& text) {
    const auto json = object_of(text);
    if (json.is_discarded()) fail("the request is no JSON object");
    const Request request{json};
    const auto known = std::ranges::find(change_verbs, request.text("do"));
    if (known == change_verbs.end()) throw ChangeRefused(true, "this fabric does not know how to do that");
    return readers[static_cast<std::size_t>(known - change_verbs.begin())](request);
}

std::string answer_text(const std::string& request, const ChangeAnswer& answer) {
    nlohmann::ordered_json line;
    if (const auto json = object_of(request); json.is_object() && json.contains("id")) line["id"] = json["id"];
    if (answer.is_done()) {
        line["ok"] = true;
    } else {
        line["error"] = answer.outcome == ChangeAnswer::Outcome::unsupported ? "unsupported" : "failed";
        line["message"] = answer.message;
    }
    return line.dump(-1, ' ', false, Json::error_handler_t::replace);
}

ChangeAnswer parse_answer(const std::string& line) {
    using enum ChangeAnswer::Outcome;
    const auto json = object_of(line);
    if (json.is_discarded()) return {failed, "the answer is no JSON object"};
    const auto text = [&](const char* member) {
        const auto found = json.find(member);
        return found != json.end() && found->is_string() ? found->get<std::string>() : std::string{};
    };
    if (const auto ok = json.find("ok"); ok != json.end() && *ok == true) return {};
    const auto message = text("message");
    return {text("error") == "unsupported" ? unsupported : failed, message.empty() ? "it gives no reason" : message};
}

}  // namespace ipoib::fabric
