// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/hosts/host_state.hpp"

#include "base/json_object.hpp"
#include "base/one_line.hpp"
#include "base/utf8.hpp"
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
constexpr std::string_view blanks = " \t\r\n";

/// Why an object, or what it lies in, tells nothing; without the file.
struct Wrong {
    std::string what;
};

/// Values of one host that cannot be: the first is told, the others are counted.
struct Doubts {
    std::string first;
    std::size_t count = 0;
    void add(const std::string& what) {
        if (count++ == 0) first = what;
    }
};

std::string shown(const Json& value) { return one_line(json_line(value), 80); }

/// Members of an object, with a path for messages. A value that cannot be is not told, and goes to the doubts.
class Members {
public:
    Members(const Json& object, std::string path, Doubts& doubts)
        : object_(object), path_(std::move(path)), doubts_(doubts) {
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
        if (value->is_string()) return one_line(value->get_ref<const std::string&>(), longest_text);
        doubt(name, "is no text", *value);
        return {};
    }
    [[nodiscard]] std::optional<bool> flag(const char* name) const {
        const auto* value = find(name);
        if (!value) return {};
        if (value->is_boolean()) return value->get<bool>();
        doubt(name, "is neither true nor false", *value);
        return {};
    }
    [[nodiscard]] std::optional<std::uint64_t> number(const char* name, std::uint64_t most) const {
        const auto* value = find(name);
        if (!value) return {};
        const auto read = value->is_number_unsigned() ? std::optional{value->get<std::uint64_t>()}
                          : value->is_string()        ? parse_number(value->get_ref<const std::string&>())
                                                      : std::nullopt;
        if (read && *read <= most) return read;
        doubt(name, "is no number up to " + std::to_string(most), *value);
        return {};
    }
    [[nodiscard]] std::optional<Gid> gid(const char* name) const {
        return read_text(name, "is no GID", [](const std::string& text) { return parse_gid(text); });
    }
    [[nodiscard]] std::optional<IpAddress> ip(const char* name) const {
        return read_text(name, "is no IP address", [](const std::string& text) { return parse_ip(text); });
    }
    [[nodiscard]] std::optional<IpNetwork> network(const char* name) const {
        return read_text(name, "is no address with the length of its prefix",
                         [](const std::string& text) { return parse_network(text); });
    }
    /// 20 octets, in hex with colons.
    [[nodiscard]] std::optional<Bytes<LinkAddress>> link_address(const char* name) const {
        return read_text(name, "is no link-layer address of IPoIB", link_address_in);
    }
    /// Calls with each element that is told and its path; whether the array is there, and all of it is understood.
    /// An element that tells nothing says why with Wrong.
    template <class Take>
    bool each(const char* name, Take take) const {
        const auto* value = find(name);
        if (!value) return false;
        if (!value->is_array() || value->size() > most_entries) {
            doubt(name,
                  value->is_array() ? "has more than " + std::to_string(most_entries) + " elements, the first"
                                    : std::string{"is no array"},
                  value->is_array() ? value->front() : *value);
            return false;
        }
        const auto doubts_before = doubts_.count;
        for (std::size_t i = 0; i < value->size(); ++i) try {
                if (!(*value)[i].is_null()) take((*value)[i], path_to(name) + '[' + std::to_string(i) + ']');
            } catch (const Wrong& wrong) {
                doubts_.add(wrong.what);
            }
        return doubts_.count == doubts_before;
    }
    /// The object of that name; nothing where it is not there.
    [[nodiscard]] std::optional<Members> object(const char* name) const {
        const auto* value = find(name);
        if (!value) return {};
        if (value->is_object()) return Members{*value, path_to(name), doubts_};
        doubt(name, "is no object", *value);
        return {};
    }
    void doubt(const char* name, const std::string& why, const Json& value) const {
        doubts_.add(place(name) + why + ": " + shown(value));
    }
    [[noreturn]] void refuse(const char* name, const std::string& why) const { throw Wrong{place(name) + why}; }
    [[nodiscard]] Doubts& doubts() const { return doubts_; }

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
    template <class Read>
    [[nodiscard]] auto read_text(const char* name, const char* why, Read read) const -> decltype(read(std::string{})) {
        const auto* value = find(name);
        if (!value) return {};
        auto found = value->is_string() ? read(value->get_ref<const std::string&>()) : std::nullopt;
        if (!found) doubt(name, why, *value);
        return found;
    }
    [[nodiscard]] std::string path_to(std::string_view name) const {
        return path_ + (path_.empty() || name.empty() ? "" : ".") + std::string(name);
    }
    [[nodiscard]] std::string place(std::string_view name) const {
        const auto whole = path_to(name);
        return whole.empty() ? std::string{} : whole + ' ';
    }
    const Json& object_;
    std::string path_;
    Doubts& doubts_;
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
    if (const auto lmc = from.number("lmc", 7)) port.lmc = static_cast<std::uint8_t>(*lmc);
    port.sm_lid = static_cast<std::uint16_t>(from.number("sm_lid", 0xffff).value_or(0));
    port.gid = from.gid("gid").value_or(Gid{});
    std::vector<std::uint16_t> p_keys;
    // Of a table with an entry that is none, nobody knows what it lacks.
    if (from.each("p_keys", [&](const Json& one, const std::string& path) { p_keys.push_back(p_key_in(one, path)); })) {
        std::ranges::sort(p_keys);
        port.p_keys = std::move(p_keys);
    }
    return port;
}

void take_addresses(const Members& from, Interface& to) {
    to.are_addresses_told = from.each("addresses", [&](const Json& one, const std::string& path) {
        const Members members{one, path, from.doubts()};
        const auto network = members.network("address");
        const auto state = members.text("state");
        if (network)
            to.addresses.push_back(
                {.network = *network, .is_tentative = state == "tentative", .is_duplicate = state == "duplicate"});
    });
}

void take_groups(const Members& from, Interface& to) {
    std::vector<Gid> groups;
    from.each("link_groups", [&](const Json& one, const std::string& path) {
        const auto address = one.is_string() ? Members::link_address_in(one.get<std::string>()) : std::nullopt;
        if (!address) throw Wrong{path + " is no link-layer address of IPoIB: " + shown(one)};
        groups.push_back((*address)[LinkAddress::gid]);
    });
    if (from.find("link_groups")) to.link_groups = std::move(groups);
    std::vector<DriverGroup> joined;
    from.each("mcg", [&](const Json& one, const std::string& path) {
        const Members members{one, path, from.doubts()};
        const auto mgid = members.gid("mgid");
        const auto is_complete = members.flag("complete"), is_send_only = members.flag("send_only");
        if (mgid && is_complete && is_send_only)
            joined.push_back({.mgid = *mgid, .is_complete = *is_complete, .is_send_only = *is_send_only});
    });
    if (from.find("mcg")) to.driver_groups = std::move(joined);
    from.each("paths", [&](const Json& one, const std::string& path) {
        const Members members{one, path, from.doubts()};
        const auto dlid = static_cast<std::uint16_t>(members.number("dlid", 0xffff).value_or(0));
        if (const auto gid = members.gid("gid")) to.paths.push_back({*gid, dlid});
    });
}

void take_neighbours(const Members& from, Interface& to) {
    from.each("neighbours", [&](const Json& one, const std::string& path) {
        const Members members{one, path, from.doubts()};
        const auto address = members.ip("address");
        // A neighbour that did not answer has none.
        const auto link = members.link_address("link_address");
        if (address && link)
            to.neighbours.push_back(
                {address->octets, (*link)[LinkAddress::gid], (*link)[LinkAddress::qpn], members.text("state")});
    });
}

Interface interface_in(const Json& json, const std::string& path, Doubts& doubts) {
    const Members from{json, path, doubts};
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
    (from.text("master_kind") == "vrf" ? one.vrf : one.master) = from.text("master");
    take_addresses(from, one);
    take_groups(from, one);
    take_neighbours(from, one);
    if (const auto settings = from.object("settings")) {
        constexpr std::uint64_t most_setting = 1000;
        if (const auto value = settings->number("arp_ignore", most_setting))
            one.arp_ignore = static_cast<unsigned>(*value);
        if (const auto value = settings->number("arp_filter", most_setting))
            one.arp_filter = static_cast<unsigned>(*value);
    }
    if (const auto facts = from.object("facts")) {
        one.device = facts->text("device");
        one.driver = facts->text("driver");
        one.firmware = facts->text("firmware");
    }
    if (const auto port = from.object("port")) one.port = port_in(*port);
    return one;
}

HostState host_in(const Json& json, const std::string& origin, Doubts& doubts) {
    const Members from{json, {}, doubts};
    const auto said = from.text("format");
    if (said != format)
        from.refuse("format", "is not \"" + std::string(format) + "\": this is not what ipoib-dut-linux state writes");
    HostState state{.host = from.text("host"), .kernel = from.text("kernel"), .time = {}, .origin = origin};
    if (state.host.empty() && doubts.count != 0) throw Wrong{doubts.first};
    if (state.host.empty()) from.refuse("host", "is missing");
    if (const auto time = from.text("time"); !time.empty()) {
        state.time = time_in(time);
        if (!state.time) from.doubt("time", "is no time in UTC (2026-01-01T00:00:00Z)", time);
    }
    from.each("interfaces", [&](const Json& one, const std::string& path) {
        state.interfaces.push_back(interface_in(one, path, doubts));
    });
    from.each("unread", [&](const Json& one, const std::string& path) {
        const Members members{one, path, doubts};
        state.unread.emplace_back(members.text("what"), members.text("why"));
    });
    return state;
}

std::string printed_name(const std::string& path) { return printable(path, Lines::join); }

/// All of a file. Throws Wrong.
std::string whole_of(const std::string& path) {
    if (path == "-") throw Wrong{"standard input is not read, name a file"};
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), &std::fclose);
    if (!file) throw Wrong{std::generic_category().message(errno)};
    std::string text;
    std::vector<char> block(std::size_t{1} << 16);
    while (const auto count = std::fread(block.data(), 1, block.size(), file.get())) {
        text.append(block.data(), count);
        if (text.size() > largest_file) throw Wrong{"more than " + std::to_string(largest_file >> 20) + " MiB"};
    }
    if (std::ferror(file.get()) != 0) throw Wrong{std::generic_category().message(errno)};
    return text;
}

std::string and_more(std::size_t count, const char* what) {
    if (count < 2) return {};
    return " (and " + std::to_string(count - 1) + " more " + what + ')';
}

/// A file's lines, or what stands on several of them: what jq makes of an object begins and ends with a brace alone.
class Pieces {
public:
    explicit Pieces(std::string_view text) : text_(text) {}
    struct Piece {
        std::string_view text;
        std::size_t first = 0, last = 0;  ///< lines
    };
    [[nodiscard]] std::optional<Piece> next() {
        while (const auto line = take_line()) {
            if (line->find_first_not_of(blanks) == std::string_view::npos) continue;
            Piece piece{*line, number_, number_};
            // One that is not closed ends where another begins.
            if (stripped(*line) == "{" && line->front() == '{')
                while (!is_next('{') && next_ < text_.size()) {
                    const auto more = *take_line();
                    piece.text = text_.substr(static_cast<std::size_t>(line->data() - text_.data()));
                    piece.text =
                        piece.text.substr(0, static_cast<std::size_t>(more.data() + more.size() - line->data()));
                    piece.last = number_;
                    if (more.starts_with('}')) break;
                }
            return piece;
        }
        return {};
    }

private:
    static std::string_view stripped(std::string_view line) {
        line.remove_prefix(std::min(line.find_first_not_of(blanks), line.size()));
        return line.substr(0, line.find_last_not_of(blanks) + 1);
    }
    [[nodiscard]] bool is_next(char letter) const {
        return text_.substr(std::min(next_, text_.size())).starts_with(letter);
    }
    std::optional<std::string_view> take_line() {
        if (next_ >= text_.size()) return {};
        const auto end = std::min(text_.find('\n', next_), text_.size());
        const auto line = text_.substr(next_, end - next_);
        next_ = end + 1;
        ++number_;
        return line;
    }

    std::string_view text_;
    std::size_t next_ = 0, number_ = 0;
};

/// "n1: {...", as pdsh and clush print.
bool begins_with_a_name(std::string_view line) {
    const auto colon = line.find(": {");
    return colon != 0 && colon < line.find_first_of(" \t{\"");
}

/// As object_in(), where text in Latin-1, as a description of a node may be, is no reason to lose a host.
std::optional<Json> object_of(std::string_view text) {
    if (auto json = object_in<Json>(text)) return json;
    const auto legal = replaced_utf8(text);
    return legal == text ? std::nullopt : object_in<Json>(legal);
}

/// The states of one file. Throws Wrong where none of it can be read.
void take_text(std::string_view text, const std::string& origin, HostStates& to) {
    std::string skipped;
    std::size_t lines = 0;
    const auto before = to.hosts.size();
    const auto take = [&](const std::optional<Json>& json, const std::string& where, std::string_view piece) {
        try {
            if (!json && begins_with_a_name(piece))
                throw Wrong{"this begins with the name of a host; pdsh -N and clush -N leave it out"};
            if (!json) throw Wrong{"this is no object of JSON that ipoib-dut-linux state writes"};
            if (to.hosts.size() == most_hosts)
                throw Wrong{"there are more than " + std::to_string(most_hosts) + " hosts"};
            Doubts doubts;
            to.hosts.push_back(host_in(*json, origin, doubts));
            to.hosts.back().machine = to.hosts.size();
            if (doubts.count != 0)
                to.notes.add(printed_name(origin) + (where.empty() ? "" : ", " + where) + ", host " +
                             to.hosts.back().host + ": " + doubts.first + and_more(doubts.count, "such values") +
                             ": left out");
            else if (to.hosts.back().interfaces.empty() && to.hosts.back().unread.empty())
                to.notes.add(printed_name(origin) + (where.empty() ? "" : ", " + where) + ", host " +
                             to.hosts.back().host + ": tells of no interface");
        } catch (const Wrong& wrong) {
            if (lines++ == 0) skipped = (where.empty() ? "" : where + ": ") + wrong.what;
        }
    };
    if (text.find_first_not_of(blanks) == std::string_view::npos) throw Wrong{"the file is empty"};
    if (const auto whole = object_of(text)) {
        take(whole, {}, text);
    } else {
        Pieces pieces{text};
        while (const auto piece = pieces.next())
            take(object_of(piece->text),
                 (piece->first == piece->last ? "line " : "lines " + std::to_string(piece->first) + " to ") +
                     std::to_string(piece->last),
                 piece->text);
    }
    if (lines == 0) return;
    skipped += and_more(lines, "such lines");
    if (to.hosts.size() == before) throw Wrong{skipped};
    to.notes.add(printed_name(origin) + ", " + skipped + ": skipped");
}

/// Of two states of one interface the later one stays.
void keep_latest(HostStates& all) {
    auto& states = all.hosts;
    std::map<std::tuple<std::string, std::string, Gid>, std::pair<std::size_t, std::size_t>> latest;
    const auto time = [&](std::size_t state) { return states[state].time.value_or(0); };
    std::vector<std::pair<std::size_t, std::size_t>> gone;
    for (std::size_t i = 0; i < states.size(); ++i)
        for (std::size_t j = 0; j < states[i].interfaces.size(); ++j) {
            const auto& one = states[i].interfaces[j];
            const auto [place, is_new] = latest.try_emplace({states[i].host, one.name, one.gid}, i, j);
            if (is_new) continue;
            states[i].machine = states[place->second.first].machine;
            const bool is_later = time(i) >= time(place->second.first);
            gone.push_back(is_later ? place->second : std::pair{i, j});
            if (is_later) place->second = {i, j};
        }
    if (!gone.empty())
        all.notes.add(std::to_string(gone.size()) + (gone.size() == 1 ? " state" : " states") +
                      " of interfaces that another state tells of later: left out");
    std::ranges::sort(gone, std::greater{});
    for (const auto& [i, j] : gone)
        states[i].interfaces.erase(states[i].interfaces.begin() + static_cast<std::ptrdiff_t>(j));
    std::erase_if(states, [](const HostState& one) { return one.interfaces.empty() && one.unread.empty(); });
}

}  // namespace

void Notes::add(std::string note) {
    if (++count_ <= most) told_.push_back(std::move(note));
}

std::vector<std::string> Notes::told() const {
    auto all = told_;
    if (count_ > most) all.push_back("and " + std::to_string(count_ - most) + " more such notes of host states");
    return all;
}

HostStates parse_host_states(std::string_view text, const std::string& origin) {
    HostStates states;
    try {
        take_text(text, origin, states);
    } catch (const Wrong& wrong) {
        throw std::runtime_error(printed_name(origin) + ": " + wrong.what);
    }
    return states;
}

HostStates read_host_states(const std::vector<std::string>& paths) {
    HostStates all;
    std::size_t size = 0, skipped = 0;
    std::string first;
    for (const auto& path : paths) try {
            const auto text = whole_of(path);
            if (size + text.size() > largest_of_all) throw Wrong{"with it there are more than 1 GiB of host states"};
            size += text.size();
            take_text(text, path, all);
        } catch (const Wrong& wrong) {
            const auto note = printed_name(path) + ": " + wrong.what;
            if (skipped++ == 0) first = note;
            all.notes.add(note + ": skipped");
        }
    if (all.hosts.empty() && skipped != 0) throw std::runtime_error(first + and_more(skipped, "such files"));
    keep_latest(all);
    return all;
}

}  // namespace ipoib::hosts
