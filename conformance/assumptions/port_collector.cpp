// SPDX-License-Identifier: GPL-2.0-or-later
// Lines of saquery into ports. Names as infiniband-diags prints them: those of NodeRecord and P_KeyTableRecord end in
// dots, those of PortInfo in a colon and dots.
#include "conformance/assumptions/port_collector.hpp"

#include "conformance/assumptions/sa_list.hpp"
#include "protocol/state/rates.hpp"
#include "protocol/wire/text.hpp"

#include <array>
#include <utility>

namespace ipoib::assumptions {
namespace {

constexpr std::string_view node_begins = "NodeRecord dump:", port_begins = "PortInfoRecord dump:",
                           p_keys_begin = "PKeyTableRecord dump:", switch_begins = "SwitchInfoRecord dump:";
constexpr std::size_t most_p_keys = 65536;

using Words = std::pair<std::string_view, std::uint8_t>;

/// The code that stands behind a text; 0 for any other text.
template <std::size_t N>
std::uint8_t code_of(const std::array<Words, N>& words, std::string_view text) {
    for (const auto& [word, code] : words)
        if (word == text) return code;
    return 0;
}
constexpr std::array<Words, 5> widths{{{"1X", 1}, {"4X", 2}, {"8X", 4}, {"12X", 8}, {"2X", 16}}};
constexpr std::array<Words, 3> speeds{{{"2.5 Gbps", 1}, {"5.0 Gbps", 2}, {"10.0 Gbps", 4}}};
constexpr std::array<Words, 5> extended_speeds{{{"14.0625 Gbps", 1},
                                                {"25.78125 Gbps", 2},
                                                {"53.125 Gbps", 4},
                                                {"106.25 Gbps", 8},
                                                {"212.5 Gbps", state::lane_of_200}}};
constexpr std::array<Words, 5> mtus{{{"256", 1}, {"512", 2}, {"1024", 3}, {"2048", 4}, {"4096", 5}}};

}  // namespace

bool PortCollector::begins(std::string_view line) {
    return line == node_begins || line == port_begins || line == p_keys_begin || line == switch_begins;
}

void PortCollector::begin(std::string_view line, std::size_t number) {
    kind_ = line == node_begins     ? Kind::node
            : line == port_begins   ? Kind::port_info
            : line == switch_begins ? Kind::switch_info
                                    : Kind::p_keys;
    begun_ = line_ = number;
    lid_.reset();
    number_.reset();
}

bool PortCollector::take(std::string_view line, std::size_t number, bool is_cut) {
    line_ = number;
    if (line.ends_with("dump:") && line != "PortInfo dump:" && line != "SwitchInfo dump:" &&
        line.find("..") == std::string_view::npos)
        return false;
    if (is_cut && !line.starts_with("NodeDescription"))
        throw Wrong{line_, "the file ends within this line: it is cut off, or lacks its last line feed"};
    if (kind_ == Kind::p_keys && line.starts_with("0x")) {
        take_p_keys(line);
        return true;
    }
    const auto dots = line.find("..");
    if (dots == std::string_view::npos || dots == 0) return true;
    constexpr std::size_t value_column = 24;  // of NodeRecord: a description may begin with a dot
    auto begin = line.find_first_not_of('.', dots);
    if (kind_ == Kind::node && begin != std::string_view::npos) begin = std::min(begin, value_column);
    const auto value = begin == std::string_view::npos ? std::string_view{} : trimmed(line.substr(begin));
    const auto name = plain_name(line.substr(0, line[dots - 1] == ':' ? dots - 1 : dots));
    if (kind_ == Kind::switch_info)
        take_of_switch(name, value);
    else
        kind_ == Kind::node ? take_of_node(name, value) : take_of_port(name, value);
    return true;
}

std::uint64_t PortCollector::number(const std::string& name, std::string_view value, std::uint64_t most) const {
    const auto read = wire::parse_number(value);
    if (!read || *read > most) throw Wrong{line_, name + " is no number in its range: " + shown(value)};
    return *read;
}

PortCollector::Node& PortCollector::node() {
    if (!lid_) throw Wrong{begun_, "the record that begins here has no LID"};
    return nodes_[*lid_];
}

PortCollector::PortRecord& PortCollector::port() {
    auto& ports = node().ports;
    if (!number_) throw Wrong{begun_, "the record that begins here has no port number"};
    return ports[*number_];
}

void PortCollector::take_of_node(const std::string& name, std::string_view value) {
    constexpr std::uint64_t any = ~std::uint64_t{0};
    if (name == "lid")
        lid_ = static_cast<std::uint16_t>(number(name, value, 0xffff));
    else if (name == "nodetype") {
        node().is_switch = value == "Switch";
        node().is_router = value == "Router";
    } else if (name == "portguid") {
        const auto guid = number(name, value, any);
        if (node().guid != 0 && node().guid != guid) throw Wrong{line_, "a second node has this LID"};
        node().guid = guid;
    } else if (name == "portnum")
        node().port = static_cast<std::uint8_t>(number(name, value, 0xff));
    else if (name == "nodedescription")
        node().description = description_in(value);
}

/// A text that is none of the table's, and not that there is none, is told all the same.
template <class Table>
void PortCollector::take_code(const Table& words, std::string_view value, std::uint8_t& into) {
    into = code_of(words, value);
    if (into == 0 && !value.empty() && !value.starts_with("No ") && value != "0") port().has_unknown_rate = true;
}

void PortCollector::take_of_port(const std::string& name, std::string_view value) {
    constexpr std::uint64_t any = ~std::uint64_t{0};
    const bool is_info = kind_ == Kind::port_info;
    if (name == (is_info ? "endportlid" : "lid"))
        lid_ = static_cast<std::uint16_t>(number(name, value, 0xffff));
    else if (name == (is_info ? "portnum" : "port"))
        number_ = static_cast<std::uint8_t>(number(name, value, 0xff));
    else if (!is_info)
        return;
    else if (name == "gidprefix")
        port().prefix = number(name, value, any);
    else if (name == "neighbormtu")
        port().mtu = code_of(mtus, value);
    else if (name == "linkwidthactive")
        take_code(widths, value, port().width);
    else if (name == "linkspeedactive")
        take_code(speeds, value, port().speed);
    else if (name == "pkeyviolations")
        port().p_key_violations = static_cast<std::uint16_t>(number(name, value, 0xffff));
    else if (name == "qkeyviolations")
        port().q_key_violations = static_cast<std::uint16_t>(number(name, value, 0xffff));
    else if (name == "linkspeedextactive")
        take_code(extended_speeds, value, port().extended);
    else if (name == "linkspeedextactive2" && !value.starts_with("No "))
        take_code(extended_speeds, value, port().extended);
}

void PortCollector::take_of_switch(const std::string& name, std::string_view value) {
    if (name != "mcastfdbcap") return;
    const auto room = static_cast<std::uint16_t>(number(name, value, 0xffff));
    if (room != 0) switch_groups_ = std::min(room, switch_groups_.value_or(room));
}

void PortCollector::take_p_keys(std::string_view line) {
    auto& p_keys = port().p_keys;
    if (!p_keys) p_keys.emplace();
    while (!line.empty()) {
        const auto end = std::min(line.find(' '), line.size());
        const auto p_key = static_cast<std::uint16_t>(number("a P_Key", line.substr(0, end), 0xffff));
        if (p_key != 0) p_keys->push_back(p_key);
        line = trimmed(line.substr(end));
    }
    if (p_keys->size() > most_p_keys) throw Wrong{line_, "more P_Keys than a port can have"};
}

std::vector<StatedPort> PortCollector::ports() && {
    std::map<wire::Gid, StatedPort> found;
    for (auto& [lid, node] : nodes_) {
        if (node.guid == 0) continue;
        auto& described = node.ports[node.is_switch ? std::uint8_t{0} : node.port];
        constexpr std::uint64_t usual_prefix = 0xfe80000000000000;
        const auto gid = wire::Gid::of(described.prefix != 0 ? described.prefix : usual_prefix, node.guid);
        found[gid] = {.gid = gid,
                      .lid = lid,
                      .mtu = described.mtu,
                      .rate = described.has_unknown_rate
                                  ? std::uint8_t{0}
                                  : state::link_rate(described.width, described.speed, described.extended),
                      .p_keys = std::move(described.p_keys),
                      .node_description = std::move(node.description),
                      .is_router = node.is_router,
                      .has_unknown_rate = described.has_unknown_rate,
                      .p_key_violations = described.p_key_violations,
                      .q_key_violations = described.q_key_violations};
    }
    std::vector<StatedPort> ports;
    ports.reserve(found.size());
    for (auto& [gid, port] : found) ports.push_back(std::move(port));
    return ports;
}

}  // namespace ipoib::assumptions
