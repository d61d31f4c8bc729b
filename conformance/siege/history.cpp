// SPDX-License-Identifier: GPL-2.0-or-later
// Histories as text, and in words.
#include "conformance/siege/history.hpp"

#include "base/json_object.hpp"
#include "protocol/wire/mc_member_record.hpp"
#include "protocol/wire/notice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

namespace ipoib::conformance::siege {
namespace {

constexpr std::uint64_t format = 2, most_formats = 1000;
constexpr std::size_t most_in_a_file = 10'000;
constexpr unsigned most_ports = 64;

struct Row {
    Do what;
    std::string_view name;
    bool has_port, has_of, has_group, has_trap;
};
constexpr std::array<Row, 11> rows{{{Do::join, "join", true, false, true, false},
                                    {Do::join_for, "join-for", true, true, true, false},
                                    {Do::leave, "leave", true, false, true, false},
                                    {Do::leave_for, "leave-for", true, true, true, false},
                                    {Do::subscribe, "subscribe", true, false, false, true},
                                    {Do::unsubscribe, "unsubscribe", true, false, false, true},
                                    {Do::port_down, "port-down", true, false, false, false},
                                    {Do::port_up, "port-up", true, false, false, false},
                                    {Do::port_moves, "port-moves", true, false, false, false},
                                    {Do::reregister, "reregister", true, false, false, false},
                                    {Do::restart, "restart", false, false, false, false}}};

struct FaultRow {
    std::string_view name, words;
};
constexpr std::array<FaultRow, faults> fault_rows{{{"none", ""},
                                                   {"p-key", ", with another P_Key"},
                                                   {"q-key", ", with another Q_Key"},
                                                   {"sl", ", with another SL"},
                                                   {"flow", ", with another FlowLabel"},
                                                   {"rate", ", with another rate"},
                                                   {"no-port", ", without PortGID"},
                                                   {"no-state", ", without JoinState"},
                                                   {"no-q-key", ", without Q_Key"}}};

/// As they stand in a file, in the order of the enumeration.
constexpr std::array<std::string_view, 3> memberships{"none", "limited", "full"};
constexpr std::string_view mtu_of_link = "usual", mtu_below_it = "less";

std::string_view name(Membership membership) { return memberships.at(static_cast<std::size_t>(membership)); }

const Row& row_of(Do what) { return rows.at(static_cast<std::size_t>(what)); }
bool is_join(Do what) { return what == Do::join || what == Do::join_for; }
bool is_request(const Row& row) { return row.has_group || row.has_trap; }

unsigned up_to(const JsonPart& part, const std::string& name, std::uint64_t most) {
    return static_cast<unsigned>(part.number(name, most));
}

Step step_of(const nlohmann::json& object, std::size_t number) {
    const auto where = fmt::format("step {}: ", number);
    if (!object.is_object()) throw std::invalid_argument(where + "is no object");
    const JsonPart part{object, where};
    const auto name = part.text("do");
    const auto* const row = std::ranges::find(rows, name, &Row::name);
    if (row == rows.end()) throw std::invalid_argument(where + "nothing is named '" + name + "'");
    Step step{.what = row->what};
    if (row->has_port) step.port = up_to(part, "port", most_ports - 1);
    if (row->has_of) step.of = up_to(part, "of", most_ports - 1);
    if (row->has_group) {
        const auto group = part.text("group");
        const auto* const at = std::ranges::find(group_names, group);
        if (at == group_names.end()) part.refuse("group", fmt::format("is none of {}", fmt::join(group_names, ", ")));
        step.group = static_cast<unsigned>(at - group_names.begin());
        step.states = up_to(part, "states", all_join_states);
    }
    if (row->has_trap) {
        step.trap = static_cast<std::uint16_t>(up_to(part, "trap", wire::trap::all));
        if (step.trap != wire::trap::multicast_group_created && step.trap != wire::trap::multicast_group_deleted &&
            step.trap != wire::trap::all)
            part.refuse("trap", "is not 66, 67 or 65535");
    }
    if (is_join(step.what) && part.has("fault")) {
        const auto* const fault = std::ranges::find(fault_rows, part.text("fault"), &FaultRow::name);
        if (fault == fault_rows.end()) part.refuse("fault", "is none that there is");
        step.fault = static_cast<Fault>(fault - fault_rows.begin());
    }
    if (row->has_group && part.has("components")) {
        if (step.fault != Fault::none) part.refuse("components", "does not go with a fault");
        step.components = up_to(part, "components", all_join_components);
    }
    if (is_request(*row) && part.has("twice")) step.is_twice = part.flag("twice");
    part.refuse_others();
    return step;
}

Membership membership_in(const JsonPart& part, const std::string& key) {
    const auto* const at = std::ranges::find(memberships, part.text(key));
    if (at == memberships.end()) part.refuse(key, fmt::format("is none of {}", fmt::join(memberships, ", ")));
    return static_cast<Membership>(at - memberships.begin());
}

/// Ports by their numbers.
std::map<unsigned, Role> roles_in(const JsonPart& whole) {
    std::map<unsigned, Role> all;
    std::size_t number = 0;
    for (const auto& object : whole.array("ports")) {
        const auto where = fmt::format("entry {} of ports: ", ++number);
        if (!object.is_object()) throw std::invalid_argument(where + "is no object");
        const JsonPart part{object, where};
        const auto port = up_to(part, "port", most_ports - 1);
        Role role{.link = membership_in(part, "link"), .other = membership_in(part, "other")};
        const auto mtu = part.text("mtu");
        if (mtu != mtu_of_link && mtu != mtu_below_it)
            part.refuse("mtu", fmt::format("is neither {} nor {}", mtu_of_link, mtu_below_it));
        role.is_narrow = mtu == mtu_below_it;
        part.refuse_others();
        if (!all.emplace(port, role).second) part.refuse("port", "is there twice");
    }
    return all;
}

/// One that is not told could be any.
void check_ports(const History& history) {
    for (std::size_t i = 0; i < history.steps.size(); ++i) {
        const auto& step = history.steps[i];
        const auto& row = row_of(step.what);
        const auto check = [&](bool is_named, unsigned port) {
            if (is_named && !history.ports.contains(port))
                throw std::invalid_argument(fmt::format("step {}: port {} is not among \"ports\"", i + 1, port));
        };
        check(row.has_port, step.port);
        check(row.has_of, step.of);
    }
}

std::string names_of(unsigned states) {
    return std::string(wire::name_of(wire::join_state_names, static_cast<std::uint8_t>(states)));
}

}  // namespace

bool is_of_group(Do what) noexcept { return row_of(what).has_group; }

bool is_for_another(Do what) noexcept { return row_of(what).has_of; }

std::string words(const Role& role) {
    const auto of = [](Membership membership) {
        return membership == Membership::none ? std::string("no") : fmt::format("a {}", name(membership));
    };
    return fmt::format("{} member of the link, {} member of the other partition{}", of(role.link), of(role.other),
                       role.is_narrow ? ", with an MTU less than the link's" : "");
}

std::string words(const Step& step) {
    const auto others = step.port == step.of ? std::string("itself") : fmt::format("port {}", step.of);
    const auto trap = step.trap == wire::trap::all ? std::string("all traps") : fmt::format("trap {}", step.trap);
    std::string how{fault_rows.at(static_cast<std::size_t>(step.fault)).words};
    if (step.components != 0) how += fmt::format(", giving components {:#x}", step.components);
    if (step.is_twice) how += ", twice";
    const auto group = group_names.at(step.group);
    switch (step.what) {
        case Do::join:
            return fmt::format("port {} joins {} as {}{}", step.port, group, names_of(step.states), how);
        case Do::join_for:
            return fmt::format("port {} joins {} for {} as {}{}", step.port, group, others, names_of(step.states), how);
        case Do::leave:
            return fmt::format("port {} leaves {} as {}{}", step.port, group, names_of(step.states), how);
        case Do::leave_for:
            return fmt::format("port {} leaves {} for {} as {}{}", step.port, group, others, names_of(step.states),
                               how);
        case Do::subscribe:
            return fmt::format("port {} subscribes to {}{}", step.port, trap, how);
        case Do::unsubscribe:
            return fmt::format("port {} ends its subscription to {}{}", step.port, trap, how);
        case Do::port_down:
            return fmt::format("port {} vanishes", step.port);
        case Do::port_up:
            return fmt::format("port {} is back", step.port);
        case Do::port_moves:
            return fmt::format("port {} gets another LID", step.port);
        case Do::reregister:
            return fmt::format("port {} asks again for all that it has", step.port);
        case Do::restart:
            return "the administrator restarts";
    }
    return {};
}

std::string text(const History& history, const std::vector<std::string>& remarks) {
    std::string all = fmt::format("{{\n \"explore-sa\": {},\n", format);
    if (!remarks.empty()) all += " \"found\": " + json_line(nlohmann::json(remarks)) + ",\n";
    if (!history.ports.empty()) {
        all += " \"ports\": [";
        for (std::string_view before; const auto& [port, role] : history.ports) {
            all += fmt::format(R"({}{{"port": {}, "link": "{}", "other": "{}", "mtu": "{}"}})", before, port,
                               name(role.link), name(role.other), role.is_narrow ? mtu_below_it : mtu_of_link);
            before = ",\n           ";
        }
        all += "],\n";
    }
    all += " \"steps\": [";
    for (std::size_t i = 0; i < history.steps.size(); ++i) {
        const auto& step = history.steps[i];
        const auto& row = row_of(step.what);
        all += fmt::format("{}\n  {{\"do\": \"{}\"", i == 0 ? "" : ",", row.name);
        if (row.has_port) all += fmt::format(", \"port\": {}", step.port);
        if (row.has_of) all += fmt::format(", \"of\": {}", step.of);
        if (row.has_group)
            all += fmt::format(", \"group\": \"{}\", \"states\": {}", group_names.at(step.group), step.states);
        if (row.has_trap) all += fmt::format(", \"trap\": {}", step.trap);
        if (step.fault != Fault::none)
            all += fmt::format(", \"fault\": \"{}\"", fault_rows.at(static_cast<std::size_t>(step.fault)).name);
        if (step.components != 0) all += fmt::format(", \"components\": {}", step.components);
        if (step.is_twice) all += ", \"twice\": true";
        all += '}';
    }
    return all + "\n ]\n}\n";
}

History parse_history(std::string_view text) {
    const auto object = object_in(text);
    if (!object) throw std::invalid_argument("it is no history: not a JSON object");
    const JsonPart whole{*object, {}};
    const auto version = whole.whole("explore-sa", most_formats);
    if (version == 1)
        whole.refuse("explore-sa",
                     "is 1, and in such files the number of a group means others on each kind of fabric: "
                     "write 2, and groups by name");
    if (version != format) whole.refuse("explore-sa", "is not 2");
    const auto& steps = whole.array("steps");
    if (steps.size() > most_in_a_file) throw std::invalid_argument(fmt::format("more than {} steps", most_in_a_file));
    History history;
    for (std::size_t i = 0; i < steps.size(); ++i) history.steps.push_back(step_of(steps[i], i + 1));
    if (whole.has("ports")) {
        history.ports = roles_in(whole);
        check_ports(history);
    }
    static_cast<void>(whole.has("found"));
    whole.refuse_others();
    return history;
}

}  // namespace ipoib::conformance::siege
