// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/guest/fabric_control/ports.hpp"

#include <charconv>
#include <sstream>

namespace ipoib::lab {
namespace {

template <class Number>
bool read(std::string_view text, Number& number, int base) {
    const auto [stopped, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
    return error == std::errc{} && stopped != text.data();
}

bool is_end_node(const std::string& name) { return name.starts_with("hca") || name.starts_with("raw"); }
bool is_switch_port(const std::string& name) { return name.starts_with("sw") && name.find('.') != std::string::npos; }

/// Behind the first occurrence; empty when there is none.
std::string_view behind(std::string_view text, std::string_view mark) {
    const auto at = text.find(mark);
    return at == std::string_view::npos ? std::string_view{} : text.substr(at + mark.size());
}

/// The unit of a switch from its GUID: they are a fixed step apart.
unsigned switch_unit(std::uint64_t guid) { return static_cast<unsigned>(guid >> 8 & 0xff); }

}  // namespace

std::map<std::string, std::string> parse_links(const std::string& text) {
    std::map<std::string, std::string> links;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string node, port;
        for (std::string word; words >> word;) {
            if (is_end_node(word)) node = word;
            if (is_switch_port(word)) port = word;
        }
        if (!node.empty() && !port.empty()) links[port] = node;
    }
    return links;
}

std::vector<EndPort> parse_topology(const std::string& text, const std::map<std::string, std::string>& links) {
    // Switch  5 "S-0002c9b100000000"  # "..." base port 0 lid 1 lmc 0
    // [3]     "H-0002c90300aa0000"[1](2c90300aa0001)  # "..." lid 4 4xSDR
    std::vector<EndPort> ports;
    std::istringstream lines(text);
    std::string name;  // of the switch; empty within other nodes
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("Switch") || line.starts_with("Ca")) {
            std::uint64_t guid = 0;
            const bool is_switch = read(behind(line, "\"S-"), guid, 16);
            name = is_switch ? "sw" + std::to_string(switch_unit(guid)) : "";
        }
        unsigned number = 0;
        EndPort port;
        const std::string_view peer = behind(line, "\"H-");
        // Descriptions are the nodes' own words: what is read stands before or behind them.
        const auto lid = line.rfind(" lid ");
        if (name.empty() || !line.starts_with('[') || peer.empty() || !read(behind(line, "["), number, 10) ||
            !read(behind(peer, "]("), port.guid, 16) || lid == std::string::npos ||
            !read(std::string_view(line).substr(lid + 5), port.lid, 10))
            continue;
        const auto cable = links.find(name + '.' + std::to_string(number));
        if (cable != links.end()) ports.push_back({port.guid, port.lid, cable->second});
    }
    return ports;
}

}  // namespace ipoib::lab
