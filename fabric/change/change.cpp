// SPDX-License-Identifier: GPL-2.0-or-later
// Requests and answers of the fabric-control protocol, read from hostile text.
#include "fabric/change/change.hpp"

#include "base/json_object.hpp"
#include "protocol/wire/text.hpp"

#include <algorithm>
#include <limits>

namespace ipoib::fabric {
namespace {

[[noreturn]] void fail(const std::string& message) { throw ChangeRefused(false, message); }

/// What a change is made of.
class Request : public JsonObject {
public:
    using JsonObject::JsonObject;
    [[noreturn]] void refuse(const std::string& name, const std::string& why) const override { fail(name + ' ' + why); }

    /// One of two words: whether it is the first.
    [[nodiscard]] bool is_first(const char* member, std::string_view first, std::string_view second) const {
        const auto word = text(member);
        if (word != first && word != second)
            refuse(member, "is neither " + std::string(first) + " nor " + std::string(second));
        return word == first;
    }
    template <class T>
    [[nodiscard]] T number(const char* member, T most = std::numeric_limits<T>::max()) const {
        return static_cast<T>(JsonObject::number(member, most));
    }
    [[nodiscard]] double probability(const char* member) const { return has(member) ? real(member, 1) : 0; }
    [[nodiscard]] wire::Gid gid(const char* member) const {
        const auto gid = wire::parse_gid(text(member));
        if (!gid) refuse(member, "is no GID");
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
};

FabricChange scenario(const Request& request) { return SetScenario{request.text("name")}; }
FabricChange manager(const Request& request) {
    if (request.has("state") && request.text("state") == "failover") return SetManager{.takes_over = true};
    if (request.has("state") && request.text("state") == "restart")
        return SetManager{.keeps_state = request.has("database") && request.is_first("database", "kept", "empty")};
    const bool keeps_state = request.has("keeps_state") && request.flag("keeps_state");
    return SetManager{request.is_first("state", "start", "stop"), keeps_state};
}
FabricChange port(const Request& request) {
    const bool is_up = request.is_first("state", "up", "down");
    return SetPort{request.port(), is_up};
}
FabricChange p_key(const Request& request) {
    if (request.has("change")) {
        if (request.text("change") != "move") request.refuse("change", "is not move");
        return SetPKey{request.port(), request.number<std::uint16_t>("pkey"), true,
                       request.number<std::uint16_t>("index")};
    }
    const bool adds = request.has("add");
    return SetPKey{request.port(), request.number<std::uint16_t>(adds ? "add" : "remove"), adds};
}
FabricChange lid(const Request& request) {
    constexpr std::uint16_t last_lid = 0xbfff;  // IBTA Vol 1, 4.1.3
    return SetLid{{.guid = request.number<std::uint64_t>("guid")},
                  request.has("lid") ? request.number<std::uint16_t>("lid", last_lid) : std::uint16_t{0}};
}
FabricChange prefix(const Request& request) {
    const auto gid = request.gid("prefix");
    if (gid.is_multicast() || gid.prefix() == 0 || gid.interface_id() != 0)
        request.refuse("prefix", "is no subnet prefix, such as fec0::");
    return SetPrefix{gid.prefix()};
}
constexpr std::uint8_t largest_sl = 15;

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
    constexpr std::uint32_t largest_flow_label = 0xfffff;
    constexpr std::uint8_t largest_mtu = 5;
    if (request.has("delete")) return SetGroup{request.gid("delete"), false};
    const auto mgid = request.gid("create");
    if (!mgid.is_multicast()) fail("a group's GID begins with ff");
    SetGroup change{mgid, true};
    if (request.has("q_key")) change.q_key = request.number<std::uint32_t>("q_key");
    if (request.has("flow_label")) change.flow_label = request.number<std::uint32_t>("flow_label", largest_flow_label);
    if (request.has("sl")) change.sl = request.number<std::uint8_t>("sl", largest_sl);
    if (request.has("traffic_class")) change.traffic_class = request.number<std::uint8_t>("traffic_class");
    if (request.has("hop_limit")) change.hop_limit = request.number<std::uint8_t>("hop_limit");
    if (request.has("mtu")) change.mtu = request.number<std::uint8_t>("mtu", largest_mtu);
    if (change.mtu == std::uint8_t{0}) fail("mtu is a code from 1 to 5");
    return change;
}
FabricChange path(const Request& request) {
    SetPath change{.gid = request.gid("gid")};
    if (request.has("lid")) change.lid = request.number<std::uint16_t>("lid");
    if (request.has("sl")) change.sl = request.number<std::uint8_t>("sl", largest_sl);
    return change;
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
    scenario, manager, port, p_key, lid, prefix, sa, group, path, faults, restore};

}  // namespace

FabricChange parse_change(const std::string& text) {
    auto members = object_in(text);
    if (!members) fail("the request is no JSON object");
    const Request request{std::move(*members)};
    const auto known = std::ranges::find(change_verbs, request.text("do"));
    if (known == change_verbs.end()) throw ChangeRefused(true, "this fabric does not know how to do that");
    return readers[static_cast<std::size_t>(known - change_verbs.begin())](request);
}

std::string answer_text(const std::string& request, const ChangeAnswer& answer) {
    nlohmann::ordered_json line;
    if (const auto members = object_in(request); members && members->contains("id")) line["id"] = (*members)["id"];
    if (answer.is_done()) {
        line["ok"] = true;
    } else {
        line["error"] = answer.outcome == ChangeAnswer::Outcome::unsupported ? "unsupported" : "failed";
        line["message"] = answer.message;
    }
    return json_line(line);
}

ChangeAnswer parse_answer(const std::string& line) {
    using enum ChangeAnswer::Outcome;
    const auto answer = object_in(line);
    if (!answer) return {failed, "the answer is no JSON object"};
    const auto text = [&](const char* member) {
        const auto found = answer->find(member);
        return found != answer->end() && found->is_string() ? found->get<std::string>() : std::string{};
    };
    if (const auto ok = answer->find("ok"); ok != answer->end() && *ok == true) return {};
    const auto message = text("message");
    return {text("error") == "unsupported" ? unsupported : failed, message.empty() ? "it gives no reason" : message};
}

}  // namespace ipoib::fabric
