// SPDX-License-Identifier: GPL-2.0-or-later
// {"look_up":"lid","guid":"0x..."}, and {"value":5}.
#include "conformance/interop/books.hpp"

#include "base/json_object.hpp"
#include "conformance/bench/inputs/journal.hpp"
#include "protocol/wire/text.hpp"

namespace ipoib::conformance::interop {
namespace {

using Json = nlohmann::ordered_json;

std::string of_port(const char* what, std::uint64_t port_guid) {
    return json_line(Json{{"look_up", what}, {"guid", wire::hex(port_guid, 16)}});
}
std::string of_group(const char* what, const wire::Gid& mgid) {
    return json_line(Json{{"look_up", what}, {"mgid", text(mgid)}});
}
std::string of_member(const wire::Gid& mgid, std::uint64_t port_guid) {
    return json_line(Json{{"look_up", "join_states"}, {"mgid", text(mgid)}, {"guid", wire::hex(port_guid, 16)}});
}
std::string of_link() { return json_line(Json{{"look_up", "link"}}); }

std::string value(std::uint64_t number) { return json_line(Json{{"value", number}}); }

std::uint64_t number_in_answer(const std::string& answer, const char* member, std::uint64_t most) {
    const auto object = object_in(answer);
    const auto number = object ? object->find(member) : nlohmann::json::const_iterator{};
    if (!object || number == object->end()) return 0;
    const auto found = number_in(*number);
    return found && *found <= most ? *found : 0;
}

template <class Number>
Number number_of(const std::string& answer, const char* member = "value") {
    return static_cast<Number>(number_in_answer(answer, member, static_cast<Number>(~Number{})));
}

}  // namespace

void JournaledPlace::note(const std::string& request, const std::string& answer) {
    if (auto* const journal = place_.journal()) journal->looked_up(request, answer);
}

build::Link JournaledPlace::link() {
    const auto link = place_.link();
    note(of_link(), json_line(Json{{"p_key", link.p_key},
                                   {"q_key", link.q_key},
                                   {"sl", link.sl},
                                   {"traffic_class", link.traffic_class},
                                   {"hop_limit", link.hop_limit},
                                   {"scope", link.scope},
                                   {"flow_label", link.flow_label},
                                   {"mtu", link.mtu},
                                   {"broadcast_mlid", link.broadcast_mlid}}));
    return link;
}

std::uint16_t JournaledPlace::lid_of(std::uint64_t port_guid) {
    const auto lid = place_.lid_of(port_guid);
    note(of_port("lid", port_guid), value(lid));
    return lid;
}

wire::Gid JournaledPlace::gid_of(std::uint64_t port_guid) {
    const auto gid = place_.gid_of(port_guid);
    note(of_port("gid", port_guid), json_line(Json{{"value", text(gid)}}));
    return gid;
}

std::uint8_t JournaledPlace::join_states(const wire::Gid& mgid, std::uint64_t port_guid) {
    const auto states = place_.join_states(mgid, port_guid);
    note(of_member(mgid, port_guid), value(states));
    return states;
}

std::uint16_t JournaledPlace::mlid_of(const wire::Gid& mgid) {
    const auto mlid = place_.mlid_of(mgid);
    note(of_group("mlid", mgid), value(mlid));
    return mlid;
}

build::Link Books::link() {
    const auto answer = look_up_(of_link());
    return {.p_key = number_of<std::uint16_t>(answer, "p_key"),
            .q_key = number_of<std::uint32_t>(answer, "q_key"),
            .sl = number_of<std::uint8_t>(answer, "sl"),
            .traffic_class = number_of<std::uint8_t>(answer, "traffic_class"),
            .hop_limit = number_of<std::uint8_t>(answer, "hop_limit"),
            .scope = number_of<std::uint8_t>(answer, "scope"),
            .flow_label = number_of<std::uint32_t>(answer, "flow_label"),
            .mtu = number_of<std::uint8_t>(answer, "mtu"),
            .broadcast_mlid = number_of<std::uint16_t>(answer, "broadcast_mlid")};
}

std::uint16_t Books::lid_of(std::uint64_t port_guid) {
    return number_of<std::uint16_t>(look_up_(of_port("lid", port_guid)));
}

wire::Gid Books::gid_of(std::uint64_t port_guid) {
    const auto object = object_in(look_up_(of_port("gid", port_guid)));
    const auto value = object ? object->find("value") : nlohmann::json::const_iterator{};
    if (!object || value == object->end() || !value->is_string()) return {};
    return wire::parse_gid(value->get<std::string>()).value_or(wire::Gid{});
}

std::uint8_t Books::join_states(const wire::Gid& mgid, std::uint64_t port_guid) {
    return number_of<std::uint8_t>(look_up_(of_member(mgid, port_guid)));
}

std::uint16_t Books::mlid_of(const wire::Gid& mgid) {
    return number_of<std::uint16_t>(look_up_(of_group("mlid", mgid)));
}

}  // namespace ipoib::conformance::interop
