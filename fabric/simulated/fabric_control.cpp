// SPDX-License-Identifier: GPL-2.0-or-later
// What can be changed on a simulated subnet from outside.
#include "fabric/simulated/fabric_control.hpp"

#include "protocol/wire/text.hpp"

#include <limits>
#include <nlohmann/json.hpp>

namespace ipoib::fabric::simulated {
namespace {

using Json = nlohmann::ordered_json;

/// Why a request was not carried out.
struct Refused {
    bool is_unsupported = false;
    std::string message;
};
[[noreturn]] void fail(std::string message) { throw Refused{false, std::move(message)}; }

constexpr Duration longest_wait = std::chrono::seconds{5};

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
    [[nodiscard]] bool flag(const char* member) const {
        const auto& value = at(member);
        if (!value.is_boolean()) fail(std::string(member) + " is neither true nor false");
        return value.get<bool>();
    }
    /// A number, or a string of hexadecimal digits with or without 0x.
    [[nodiscard]] std::uint64_t number(const char* member, std::uint64_t most) const {
        const auto& value = at(member);
        std::optional<std::uint64_t> number;
        if (value.is_number_unsigned()) number = value.get<std::uint64_t>();
        if (value.is_string()) number = from_hex(value.get<std::string>());
        if (!number || *number > most) fail(std::string(member) + " is not a number up to " + std::to_string(most));
        return *number;
    }
    [[nodiscard]] double real(const char* member, double most) const {
        const auto& value = at(member);
        const double real = value.is_number() ? value.get<double>() : -1;
        if (!(real >= 0 && real <= most)) fail(std::string(member) + " is not between 0 and " + std::to_string(most));
        return real;
    }
    [[nodiscard]] wire::Gid gid(const char* member) const {
        const auto gid = wire::parse_gid(text(member));
        if (!gid) fail(std::string(member) + " is no GID");
        return *gid;
    }
    [[nodiscard]] Duration milliseconds(const char* member) const {
        constexpr double an_hour = 3'600'000, nanoseconds = 1'000'000;
        return Duration{static_cast<Duration::rep>(real(member, an_hour) * nanoseconds)};
    }
    [[nodiscard]] std::uint64_t guid() const { return number("guid", std::numeric_limits<std::uint64_t>::max()); }

private:
    [[nodiscard]] const Json& at(const char* member) const {
        if (!json_.contains(member)) fail(std::string(member) + " is missing");
        return json_.at(member);
    }
    [[nodiscard]] static std::optional<std::uint64_t> from_hex(std::string_view text) {
        if (text.starts_with("0x")) text.remove_prefix(2);
        if (text.empty() || text.size() > 16) return {};
        std::uint64_t value = 0;
        for (const char c : text) {
            const auto digit = std::string_view{"0123456789abcdef"}.find(static_cast<char>(c | 0x20));
            if (digit == std::string_view::npos) return {};
            value = value << 4 | digit;
        }
        return value;
    }
    const Json& json_;
};

struct Control {
    Subnet& subnet;
    const std::vector<std::uint64_t>& awaited;

    void await() const {
        for (const auto guid : awaited)
            if (!subnet.bring_up(guid, longest_wait)) fail("port " + wire::hex(guid, 16) + " did not come up");
    }
    void scenario(const Request& request) const {
        const auto* scenario = find_scenario(request.text("name"));
        if (!scenario) fail("no scenario has this name");
        subnet.change_scenario(*scenario);
        await();
    }
    void sm(const Request& request) const {
        const auto state = request.text("state");
        if (state != "stop" && state != "start") fail("state is neither stop nor start");
        if (state == "stop") return subnet.stop_manager();
        subnet.start_manager(request.has("keeps_state") && request.flag("keeps_state"));
        await();
    }
    void port(const Request& request) const {
        const auto state = request.text("state");
        if (state != "up" && state != "down") fail("state is neither up nor down");
        auto guid = request.has("guid") ? request.guid() : 0;
        if (guid == 0) {
            const auto* port = subnet.view().by_lid(static_cast<std::uint16_t>(request.number("lid", 0xffff)));
            if (!port) fail("no port has this LID");
            guid = port->port_guid;
        }
        if (!subnet.set_link(guid, state == "up")) fail("no port has this GUID");
        if (state == "up" && !subnet.bring_up(guid, longest_wait)) fail("the port did not come up");
    }
    void pkey(const Request& request) const {
        const bool adds = request.has("add");
        const auto p_key = static_cast<std::uint16_t>(request.number(adds ? "add" : "remove", 0xffff));
        const auto guid = request.guid();
        const bool is_done = adds ? subnet.add_p_key(guid, p_key) : subnet.remove_p_key(guid, p_key);
        if (!is_done) fail("no port has this GUID, or its table is full or lacks the P_Key");
    }
    void sa(const Request& request) const {
        auto faults = request.has("reset") && request.flag("reset") ? SaFaults{} : subnet.sa().faults;
        constexpr std::uint64_t most = 0xffffffff;
        if (request.has("delay_ms")) faults.delay = request.milliseconds("delay_ms");
        if (request.has("silent")) faults.is_silent = request.flag("silent");
        if (request.has("drop_next")) faults.drop_next = static_cast<unsigned>(request.number("drop_next", most));
        if (request.has("busy_next")) faults.busy_next = static_cast<unsigned>(request.number("busy_next", most));
        if (request.has("refuse_joins"))
            faults.refuse_joins = static_cast<std::uint16_t>(request.number("refuse_joins", 0xffff));
        if (request.has("refuse_only")) faults.refuse_only = request.gid("refuse_only");
        subnet.sa().faults = faults;
    }
    void group(const Request& request) const {
        if (request.has("delete")) return subnet.sa().delete_group(request.gid("delete"));
        const auto mgid = request.gid("create");
        if (!mgid.is_multicast()) fail("a group's GID begins with ff");
        if (!subnet.sa().create_group(mgid, subnet.scenario().link)) fail("no MLID is left");
    }
    void path(const Request& request) const {
        const auto lid = request.has("lid") ? request.number("lid", 0xffff) : 0;
        subnet.sa().set_route(request.gid("gid"), static_cast<std::uint16_t>(lid));
    }
    void faults(const Request& request) const {
        LinkFaults faults;
        const auto probability = [&](const char* member) { return request.has(member) ? request.real(member, 1) : 0; };
        faults.loss = probability("loss");
        faults.duplication = probability("duplication");
        faults.reordering = probability("reordering");
        faults.corruption = probability("corruption");
        if (request.has("delay_ms")) faults.delay = request.milliseconds("delay_ms");
        if (request.has("spares_management")) faults.spares_management = request.flag("spares_management");
        if (!subnet.set_faults(request.guid(), faults)) fail("no port has this GUID");
    }

    /// Takes back what cases do to manager and administrator. Links, P_Keys and groups are named one by one.
    void restore(const Request&) const {
        subnet.sa().faults = {};
        if (subnet.sm_hca().is_connected()) return;
        subnet.start_manager(true);
        await();
    }
    void carry_out(const Request& request) const {
        struct Verb {
            std::string_view name;
            void (Control::*function)(const Request&) const;
        };
        static constexpr std::array<Verb, 9> verbs{{{"scenario", &Control::scenario},
                                                    {"sm", &Control::sm},
                                                    {"port", &Control::port},
                                                    {"pkey", &Control::pkey},
                                                    {"sa", &Control::sa},
                                                    {"group", &Control::group},
                                                    {"path", &Control::path},
                                                    {"faults", &Control::faults},
                                                    {"restore", &Control::restore}}};
        const auto name = request.text("do");
        for (const auto& verb : verbs)
            if (verb.name == name) return (this->*verb.function)(request);
        throw Refused{true, "this fabric does not know how to do that"};
    }
};

}  // namespace

std::string control(Subnet& subnet, const std::string& request, const std::vector<std::uint64_t>& awaited) {
    Json answer;
    try {
        const auto json = Json::parse(request, nullptr, false);
        if (json.is_discarded() || !json.is_object()) fail("the request is no JSON object");
        if (json.contains("id")) answer["id"] = json["id"];
        Control{subnet, awaited}.carry_out(Request{json});
        answer["ok"] = true;
    } catch (const Refused& refused) {
        answer["error"] = refused.is_unsupported ? "unsupported" : "failed";
        answer["message"] = refused.message;
    }
    return answer.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace ipoib::fabric::simulated
