// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/hosts/host_state.hpp"

#include "base/json_object.hpp"
#include "base/one_line.hpp"
#include "protocol/wire/link_address.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <tuple>

namespace ipoib::hosts {
namespace {

using Json = nlohmann::json;
using namespace wire;

constexpr std::string_view format = "ipoib-host-state/1";
constexpr std::size_t longest_text = 256;

/// What is wrong with a member, without the place.
struct Wrong {
    std::string what;
};

std::string shown(const Json& value) { return one_line(json_line(value), 80); }

/// Members of an object, with a path for messages.
class Members {
public:
    Members(const Json& object, std::string path) : object_(object), path_(std::move(path)) {
        if (!object.is_object()) throw Wrong{place({}) + "is no object: " + shown(object)};
    }
    /// Null where it is not told.
    [[nodiscard]] const Json* find(const char* name) const {
        const auto found = object_.find(name);
        return found == object_.end() || found->is_null() ? nullptr : &*found;
    }
    [[nodiscard]] std::string text(const char* name) const {
        const auto* value = find(name);
        if (!value) return {};
        if (!value->is_string()) refuse(name, "is no text", *value);
        return one_line(value->get_ref<const std::string&>(), longest_text);
    }
    [[nodiscard]] std::optional<bool> flag(const char* name) const {
        const auto* value = find(name);
        if (!value) return {};
        if (!value->is_boolean()) refuse(name, "is neither true nor false", *value);
        return value->get<bool>();
    }
    [[nodiscard]] std::optional<std::uint64_t> number(const char* name, std::uint64_t most) const {
        const auto* value = find(name);
        if (!value) return {};
        const auto read = value->is_number_unsigned() ? std::optional{value->get<std::uint64_t>()}
                          : value->is_string()        ? parse_number(value->get_ref<const std::string&>())
                                                      : std::nullopt;
        if (!read || *read > most) refuse(name, "is no number up to " + std::to_string(most), *value);
        return read;
    }
    [[nodiscard]] std::optional<Gid> gid(const char* name) const {
        const auto* value = find(name);
        if (!value) return {};
        const auto read = value->is_string() ? parse_gid(value->get_ref<const std::string&>()) : std::nullopt;
        if (!read) refuse(name, "is no GID", *value);
        return read;
    }
    /// 20 octets, in hex with colons.
    [[nodiscard]] std::optional<Bytes<LinkAddress>> link_address(const char* name) const {
        const auto* value = find(name);
        if (!value) return {};
        const auto read = value->is_string() ? link_address_in(value->get_ref<const std::string&>()) : std::nullopt;
        if (!read) refuse(name, "is no link-layer address of IPoIB", *value);
        return read;
    }
    /// Calls with each element and its path; whether the array is there.
    template <class Take>
    bool each(const char* name, Take take) const {
        const auto* value = find(name);
        if (!value) return false;
        if (!value->is_array()) refuse(name, "is no array", *value);
        if (value->size() > most_entries) refuse(name, "has more than " + std::to_string(most_entries) + " elements");
        for (std::size_t i = 0; i < value->size(); ++i)
            take((*value)[i], path_ + (path_.empty() ? "" : ".") + name + '[' + std::to_string(i) + ']');
        return true;
    }
    /// The object of that name; empty where it is not there.
    [[nodiscard]] Members object(const char* name) const {
        static const Json none = Json::object();
        const auto* value = find(name);
        return {value ? *value : none, path_ + (path_.empty() ? "" : ".") + name};
    }
    [[noreturn]] void refuse(const char* name, const std::string& why, const Json& value) const {
        throw Wrong{place(name) + why + ": " + shown(value)};
    }
    [[noreturn]] void refuse(const char* name, const std::string& why) const { throw Wrong{place(name) + why}; }

    static std::optional<Bytes<LinkAddress>> link_address_in(std::string text) {
        if (text.size() != 3 * LinkAddress::size - 1) return {};
        for (std::size_t i = 2; i < text.size(); i += 3)
            if (text[i] != ':') return {};
        std::erase(text, ':');
        const auto octets = parse_octets(text);
        if (!octets || octets->size() != LinkAddress::size) return {};
        Bytes<LinkAddress> address;
        std::ranges::copy(*octets, address.octets.begin());
        return address;
    }

private:
    [[nodiscard]] std::string place(std::string_view name) const {
        const auto whole = path_ + (path_.empty() || name.empty() ? "" : ".") + std::string(name);
        return whole.empty() ? std::string{} : whole + ' ';
    }
    const Json& object_;
    std::string path_;
};

/// "2026-11-26T10:00:00Z".
std::optional<std::int64_t> time_in(const std::string& text) {
    int year = 0;
    unsigned month = 0, day = 0, hour = 0, minute = 0, second = 0;
    char zone = 0, more = 0;
    if (std::sscanf(text.c_str(), "%4d-%2u-%2uT%2u:%2u:%2u%c%c", &year, &month, &day, &hour, &minute, &second, &zone,
                    &more) != 7 ||
        zone != 'Z')
        return {};
    const std::chrono::year_month_day date{std::chrono::year{year}, std::chrono::month{month}, std::chrono::day{day}};
    constexpr int first_year = 1970, last_year = 2200;
    if (!date.ok() || year < first_year || year > last_year || hour > 23 || minute > 59 || second > 60) return {};
    const auto time = std::chrono::sys_days{date} + std::chrono::hours{hour} + std::chrono::minutes{minute} +
                      std::chrono::seconds{second};
    return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

std::uint16_t p_key_in(const Json& value, const std::string& path) {
    const auto read = value.is_string()            ? parse_number(value.get_ref<const std::string&>())
                      : value.is_number_unsigned() ? std::optional{value.get<std::uint64_t>()}
                                                   : std::nullopt;
    if (!read || *read > 0xffff) throw Wrong{path + " is no P_Key: " + shown(value)};
    return static_cast<std::uint16_t>(*read);
}

PortState port_in(const Members& from) {
    PortState port{.state = from.text("state"), .phys_state = from.text("phys_state"), .p_keys = {}};
    port.lid = static_cast<std::uint16_t>(from.number("lid", 0xffff).value_or(0));
    port.lmc = static_cast<std::uint8_t>(from.number("lmc", 7).value_or(0));
    port.gid = from.gid("gid").value_or(Gid{});
    std::vector<std::uint16_t> p_keys;
    if (from.each("p_keys", [&](const Json& one, const std::string& path) { p_keys.push_back(p_key_in(one, path)); })) {
        std::ranges::sort(p_keys);
        port.p_keys = std::move(p_keys);
    }
    return port;
}

void take_addresses(const Members& from, Interface& to) {
    from.each("addresses", [&](const Json& one, const std::string& path) {
        const Members members{one, path};
        const auto text = members.text("address");
        const auto network = parse_network(text);
        if (!network) members.refuse("address", "is no address with the length of its prefix: " + text);
        const auto state = members.text("state");
        to.addresses.push_back(
            {.network = *network, .is_tentative = state == "tentative", .is_duplicate = state == "duplicate"});
    });
}

void take_groups(const Members& from, Interface& to) {
    std::vector<Gid> groups;
    const bool are_told = from.each("link_groups", [&](const Json& one, const std::string& path) {
        const auto address = one.is_string() ? Members::link_address_in(one.get<std::string>()) : std::nullopt;
        if (!address) throw Wrong{path + " is no link-layer address of IPoIB: " + shown(one)};
        groups.push_back((*address)[LinkAddress::gid]);
    });
    if (are_told) to.link_groups = std::move(groups);
    std::vector<DriverGroup> joined;
    const bool are_shown = from.each("mcg", [&](const Json& one, const std::string& path) {
        const Members members{one, path};
        const auto mgid = members.gid("mgid");
        if (!mgid) members.refuse("mgid", "is missing");
        joined.push_back({.mgid = *mgid,
                          .is_complete = members.flag("complete").value_or(false),
                          .is_send_only = members.flag("send_only").value_or(false)});
    });
    if (are_shown) to.driver_groups = std::move(joined);
    from.each("paths", [&](const Json& one, const std::string& path) {
        const Members members{one, path};
        const auto gid = members.gid("gid");
        if (!gid) members.refuse("gid", "is missing");
        to.paths.push_back({*gid, static_cast<std::uint16_t>(members.number("dlid", 0xffff).value_or(0))});
    });
}

void take_neighbours(const Members& from, Interface& to) {
    from.each("neighbours", [&](const Json& one, const std::string& path) {
        const Members members{one, path};
        const auto address = parse_ip(members.text("address"));
        if (!address) members.refuse("address", "is no IP address: " + members.text("address"));
        const auto link = members.link_address("link_address");
        if (!link) members.refuse("link_address", "is missing");
        to.neighbours.push_back(
            {address->octets, (*link)[LinkAddress::gid], (*link)[LinkAddress::qpn], members.text("state")});
    });
}

Interface interface_in(const Json& json, const std::string& path) {
    const Members from{json, path};
    Interface one{.name = from.text("name"), .mode = from.text("mode")};
    if (one.name.empty()) from.refuse("name", "is missing");
    if (const auto link = from.link_address("link_address")) {
        one.qpn = (*link)[LinkAddress::qpn];
        one.gid = (*link)[LinkAddress::gid];
    }
    if (const auto broadcast = from.link_address("broadcast")) one.broadcast = (*broadcast)[LinkAddress::gid];
    one.mtu = static_cast<unsigned>(from.number("mtu", 65535).value_or(0));
    one.p_key = static_cast<std::uint16_t>(from.number("p_key", 0xffff).value_or(0));
    one.is_up = from.flag("up");
    one.is_running = from.flag("running");
    one.has_master = !from.text("master").empty();
    take_addresses(from, one);
    take_groups(from, one);
    take_neighbours(from, one);
    const auto settings = from.object("settings");
    constexpr std::uint64_t most_setting = 1000;
    if (const auto value = settings.number("arp_ignore", most_setting)) one.arp_ignore = static_cast<unsigned>(*value);
    if (const auto value = settings.number("arp_filter", most_setting)) one.arp_filter = static_cast<unsigned>(*value);
    const auto facts = from.object("facts");
    one.device = facts.text("device");
    one.driver = facts.text("driver");
    one.firmware = facts.text("firmware");
    if (from.find("port")) one.port = port_in(from.object("port"));
    return one;
}

HostState host_in(const Json& json, const std::string& origin) {
    const Members from{json, {}};
    const auto said = from.text("format");
    if (said != format)
        from.refuse("format", "is not \"" + std::string(format) + "\": this is not what ipoib-dut-linux state writes");
    HostState state{.host = from.text("host"), .kernel = from.text("kernel"), .time = {}, .origin = origin};
    if (state.host.empty()) from.refuse("host", "is missing");
    if (const auto time = from.text("time"); !time.empty()) {
        state.time = time_in(time);
        if (!state.time) from.refuse("time", "is no time in UTC (2026-01-01T00:00:00Z): " + time);
    }
    from.each("interfaces",
              [&](const Json& one, const std::string& path) { state.interfaces.push_back(interface_in(one, path)); });
    from.each("unread", [&](const Json& one, const std::string& path) {
        const Members members{one, path};
        state.unread.emplace_back(members.text("what"), members.text("why"));
    });
    return state;
}

[[noreturn]] void refuse(const std::string& origin, const std::string& why) {
    throw std::runtime_error(printable(origin, Lines::join) + ": " + why);
}

std::string whole_of(const std::string& path) {
    if (path == "-") refuse("--host-state", "needs the name of a file: standard input is not read");
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), &std::fclose);
    if (!file) refuse(path, std::generic_category().message(errno));
    std::string text;
    std::vector<char> block(std::size_t{1} << 16);
    while (const auto count = std::fread(block.data(), 1, block.size(), file.get())) {
        text.append(block.data(), count);
        if (text.size() > largest_file) refuse(path, "more than " + std::to_string(largest_file >> 20) + " MiB");
    }
    if (std::ferror(file.get()) != 0) refuse(path, std::generic_category().message(errno));
    return text;
}

/// Of two states of one interface the later one stays.
void keep_latest(std::vector<HostState>& states) {
    std::map<std::tuple<std::string, std::string, Gid>, std::pair<std::size_t, std::size_t>> latest;
    const auto time = [&](std::size_t state) { return states[state].time.value_or(0); };
    std::vector<std::pair<std::size_t, std::size_t>> gone;
    for (std::size_t i = 0; i < states.size(); ++i)
        for (std::size_t j = 0; j < states[i].interfaces.size(); ++j) {
            const auto& one = states[i].interfaces[j];
            const auto [place, is_new] = latest.try_emplace({states[i].host, one.name, one.gid}, i, j);
            if (is_new) continue;
            const bool is_later = time(i) >= time(place->second.first);
            gone.push_back(is_later ? place->second : std::pair{i, j});
            if (is_later) place->second = {i, j};
        }
    std::ranges::sort(gone, std::greater{});
    for (const auto& [i, j] : gone)
        states[i].interfaces.erase(states[i].interfaces.begin() + static_cast<std::ptrdiff_t>(j));
    std::erase_if(states, [](const HostState& one) { return one.interfaces.empty() && one.unread.empty(); });
}

}  // namespace

std::vector<HostState> parse_host_states(std::string_view text, const std::string& origin) {
    constexpr std::string_view blanks = " \t\r\n";
    std::vector<HostState> states;
    const auto take = [&](const std::optional<Json>& json, const std::string& where) {
        if (!json) refuse(origin, where + "this is no object of JSON that ipoib-dut-linux state writes");
        if (states.size() == most_hosts) refuse(origin, "more than " + std::to_string(most_hosts) + " hosts");
        try {
            states.push_back(host_in(*json, origin));
        } catch (const Wrong& wrong) {
            refuse(origin, where + wrong.what);
        }
    };
    if (text.find_first_not_of(blanks) == std::string_view::npos) refuse(origin, "the file is empty");
    if (const auto whole = object_in<Json>(text)) {
        take(whole, {});
        return states;
    }
    std::size_t number = 0;
    for (std::size_t begin = 0; begin < text.size();) {
        const auto end = std::min(text.find('\n', begin), text.size());
        const auto line = text.substr(begin, end - begin);
        ++number;
        begin = end + 1;
        if (line.find_first_not_of(blanks) != std::string_view::npos)
            take(object_in<Json>(line), "line " + std::to_string(number) + ": ");
    }
    return states;
}

std::vector<HostState> read_host_states(const std::vector<std::string>& paths) {
    std::vector<HostState> all;
    std::size_t size = 0;
    for (const auto& path : paths) {
        const auto text = whole_of(path);
        size += text.size();
        if (size > largest_of_all) refuse(path, "with this file there are more than 1 GiB of host states");
        for (auto& state : parse_host_states(text, path)) all.push_back(std::move(state));
        if (all.size() > most_hosts) refuse(path, "more than " + std::to_string(most_hosts) + " hosts");
    }
    keep_latest(all);
    return all;
}

}  // namespace ipoib::hosts
