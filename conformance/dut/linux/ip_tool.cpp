// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/dut/linux/ip_tool.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <sstream>

namespace ipoib::host {
namespace {

using Parsed = nlohmann::json;

std::string string_of(const Parsed& object, const char* name) {
    const auto found = object.find(name);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string{};
}

bool is_set(const Parsed& object, const char* name) {
    const auto found = object.find(name);
    return found != object.end() && found->is_boolean() && found->get<bool>();
}

std::uint64_t number_of(const Parsed& object, const char* name) {
    const auto found = object.find(name);
    return found != object.end() && found->is_number_unsigned() ? found->get<std::uint64_t>() : 0;
}

bool contains(const Parsed& object, const char* name, const char* word) {
    const auto found = object.find(name);
    return found != object.end() && found->is_array() && std::find(found->begin(), found->end(), word) != found->end();
}

InterfaceAddress address_of(const Parsed& entry) {
    return {.text = string_of(entry, "local") + '/' + std::to_string(number_of(entry, "prefixlen")),
            .is_v4 = string_of(entry, "family") == "inet",
            .is_tentative = is_set(entry, "tentative"),
            .is_duplicate = is_set(entry, "dadfailed"),
            .is_link_local = string_of(entry, "scope") == "link"};
}

template <std::size_t N>
bool read_hex(const std::string& digits, std::array<unsigned char, N>& octets) {
    if (digits.size() != 2 * N || digits.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos) return false;
    for (std::size_t i = 0; i < N; ++i)
        octets[i] = static_cast<unsigned char>(std::stoul(digits.substr(2 * i, 2), nullptr, 16));
    return true;
}

template <std::size_t N>
std::string address_text(int family, const std::array<unsigned char, N>& octets) {
    std::array<char, INET6_ADDRSTRLEN> text{};
    return ::inet_ntop(family, octets.data(), text.data(), text.size()) ? text.data() : std::string{};
}

}  // namespace

std::optional<InterfaceState> parse_interface(const std::string& json, const std::string& name) {
    const auto all = Parsed::parse(json, nullptr, false);
    if (!all.is_array()) return {};
    // iproute2 leaves empty objects for interfaces that it filtered out.
    const auto found = std::find_if(
        all.begin(), all.end(), [&](const Parsed& one) { return one.is_object() && string_of(one, "ifname") == name; });
    if (found == all.end()) return {};
    InterfaceState state{.link_address = string_of(*found, "address"),
                         .broadcast = string_of(*found, "broadcast"),
                         .mtu = static_cast<unsigned>(std::min<std::uint64_t>(number_of(*found, "mtu"), 65535)),
                         .is_up = contains(*found, "flags", "UP")};
    state.is_running = state.is_up && contains(*found, "flags", "LOWER_UP") && !contains(*found, "flags", "NO-CARRIER");
    if (const auto entries = found->find("addr_info"); entries != found->end() && entries->is_array())
        for (const auto& entry : *entries)
            if (entry.is_object() && !string_of(entry, "local").empty()) state.addresses.push_back(address_of(entry));
    return state;
}

std::vector<Neighbour> parse_neighbours(const std::string& json) {
    constexpr std::array resolved{"REACHABLE", "STALE", "DELAY", "PROBE", "PERMANENT"};
    std::vector<Neighbour> neighbours;
    const auto all = Parsed::parse(json, nullptr, false);
    if (!all.is_array()) return neighbours;
    for (const auto& entry : all) {
        if (!entry.is_object() || string_of(entry, "dst").empty() || string_of(entry, "lladdr").empty()) continue;
        const auto* const state = std::find_if(resolved.begin(), resolved.end(),
                                               [&](const char* one) { return contains(entry, "state", one); });
        if (state != resolved.end())
            neighbours.push_back({string_of(entry, "dst"), string_of(entry, "lladdr"), *state});
    }
    return neighbours;
}

std::vector<std::string> parse_igmp(const std::string& text, const std::string& interface) {
    std::vector<std::string> groups;
    std::istringstream lines(text);
    bool is_wanted = false;
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string first, second;
        words >> first >> second;
        const bool is_interface = !line.empty() && line[0] != '\t' && line[0] != ' ';
        if (is_interface) {
            is_wanted = second == interface;
            continue;
        }
        std::array<unsigned char, 4> octets{};
        if (!is_wanted || !read_hex(first, octets)) continue;
        // The kernel prints the address as a number of its own byte order.
        const auto number = static_cast<std::uint32_t>(std::stoul(first, nullptr, 16));
        std::memcpy(octets.data(), &number, octets.size());
        groups.push_back(address_text(AF_INET, octets));
    }
    return groups;
}

std::vector<std::string> parse_igmp6(const std::string& text, const std::string& interface) {
    std::vector<std::string> groups;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string index, name, address;
        words >> index >> name >> address;
        std::array<unsigned char, 16> octets{};
        if (name == interface && read_hex(address, octets)) groups.push_back(address_text(AF_INET6, octets));
    }
    return groups;
}

}  // namespace ipoib::host
