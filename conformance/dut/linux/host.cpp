// SPDX-License-Identifier: GPL-2.0-or-later
// The interfaces of the host: described, changed, put back.
#include "conformance/dut/linux/host.hpp"

#include "conformance/dut/linux/facts.hpp"

#include <net/if.h>

#include <algorithm>
#include <stdexcept>

namespace ipoib::host {
namespace {

/// An IP address with the length of its prefix, refused unless an interface can have it.
struct Network {
    Address address;
    std::string text;
    unsigned length = 0;
};

Network network_in(const Request& request, unsigned index) {
    const auto text = request.text("address");
    const auto slash = text.find('/');
    const auto digits = slash == std::string::npos ? std::string{} : text.substr(slash + 1);
    const auto address = parse_address(text.substr(0, slash), index);
    const bool is_number =
        !digits.empty() && digits.size() <= 3 && digits.find_first_not_of("0123456789") == digits.npos;
    const unsigned length = is_number ? static_cast<unsigned>(std::stoul(digits)) : 0;
    if (!address || !is_number || length > (address->is_v4() ? 32u : 128u))
        fail("\"address\" is no address with a prefix length");
    if (address->is_multicast() || address->text == "255.255.255.255") fail("no interface can have this address");
    return {*address, address->text + '/' + std::to_string(length), length};
}

bool has(const InterfaceState& state, const std::string& address) {
    return std::any_of(state.addresses.begin(), state.addresses.end(),
                       [&](const InterfaceAddress& one) { return one.text == address; });
}

}  // namespace

Host::Host(const std::string& interface, Role role, const Interruption& interruption)
    : role_(std::move(role)), interruption_(interruption), log_(interface) {
    const unsigned index = ::if_nametoindex(interface.c_str());
    if (index == 0) throw std::runtime_error("there is no interface " + interface);
    links_.push_back({interface, index});
    try {
        before_ = state(main_link());
    } catch (const Refusal& refused) {
        throw std::runtime_error(refused.message);
    }
    mode_before_ = read_text(sysfs(main_link(), "mode")).value_or("");
}

void Host::must(const std::string& reason) const {
    if (!reason.empty()) fail(reason);
}

void Host::ip(Arguments arguments, milliseconds limit) const {
    arguments.insert(arguments.begin(), "ip");
    auto outcome = run(arguments, limit);
    while (outcome.errors.ends_with('\n')) outcome.errors.pop_back();
    if (!outcome.is_ok()) fail(outcome.errors.empty() ? "ip failed" : outcome.errors);
}

std::string Host::sysfs(const Link& link, const char* file) const { return "/sys/class/net/" + link.name + '/' + file; }

InterfaceState Host::state(const Link& link) const {
    constexpr milliseconds limit{5000};
    const auto outcome = run({"ip", "-j", "addr", "show", "dev", link.name}, limit);
    const auto state = outcome.is_ok() ? parse_interface(outcome.output, link.name) : std::nullopt;
    if (!state) fail("cannot tell the state of " + link.name + ": " + outcome.errors);
    return *state;
}

const Link& Host::link(const Request& request) const {
    if (!request.has("interface")) return main_link();
    const auto name = request.text("interface");
    const auto found = std::find_if(links_.begin(), links_.end(), [&](const Link& one) { return one.name == name; });
    if (found == links_.end()) fail("no such interface: " + name);
    return *found;
}

Address Host::address(const Request& request, const char* member) const {
    const auto address = parse_address(request.text(member), link(request).index);
    if (!address) fail(std::string("\"") + member + "\" is no address");
    return *address;
}

Json Host::interface(const Request& request) const {
    const auto& of = link(request);
    const auto now = state(of);
    Json ipv4 = Json::array(), ipv6 = Json::array(), groups = Json::array();
    for (const auto& address : now.addresses)
        if (!address.is_tentative && !address.is_duplicate) (address.is_v4 ? ipv4 : ipv6).push_back(address.text);
    for (const auto& group : parse_igmp(read_text("/proc/net/igmp").value_or(""), of.name)) groups.push_back(group);
    for (const auto& group : parse_igmp6(read_text("/proc/net/igmp6").value_or(""), of.name)) groups.push_back(group);
    Json answer{{"link_address", now.link_address},
                {"mtu", now.mtu},
                {"ipv4", ipv4},
                {"ipv6", ipv6},
                {"up", now.is_running},
                {"groups", groups}};
    if (const auto mode = read_text(sysfs(of, "mode"))) answer["mode"] = *mode;
    return answer;
}

void Host::keep_addresses(const Link& link) {
    // Without IPv6 there is nothing to keep.
    static_cast<void>(settings_.change("/proc/sys/net/ipv6/conf/" + link.name + "/keep_addr_on_down", "1"));
}

Json Host::up(const Request& request) {
    is_changed_ = true;
    ip({"link", "set", "dev", link(request).name, "up"}, request.patience());
    return Json::object();
}

Json Host::down(const Request& request) {
    is_changed_ = true;
    keep_addresses(link(request));
    ip({"link", "set", "dev", link(request).name, "down"}, request.patience());
    was_down_ = true;
    return Json::object();
}

Json Host::restart(const Request& request) {
    down(request);
    return up(request);
}

Json Host::add_address(const Request& request) {
    const auto& to = link(request);
    const auto network = network_in(request, to.index);
    if (has(state(to), network.text)) return Json::object();
    is_changed_ = true;
    Arguments arguments{"addr", "add", network.text, "dev", to.name};
    constexpr unsigned point_to_point = 31;
    if (network.address.is_v4() && network.length < point_to_point) arguments.insert(arguments.end(), {"brd", "+"});
    ip(arguments);
    added_.emplace_back(to.name, network.text);
    if (network.address.is_v4()) return Json::object();
    // An IPv6 address can be used once duplicates have been looked for, which needs the link.
    constexpr milliseconds longest{5000};
    bool is_duplicate = false;
    static_cast<void>(wait_until(interruption_, std::min(longest, request.patience()), [&] {
        const auto now = state(to);
        const auto found = std::find_if(now.addresses.begin(), now.addresses.end(),
                                        [&](const InterfaceAddress& one) { return one.text == network.text; });
        is_duplicate = found != now.addresses.end() && found->is_duplicate;
        return !now.is_running || found == now.addresses.end() || !found->is_tentative;
    }));
    if (is_duplicate) fail("another node has this address");
    return Json::object();
}

Json Host::remove_address(const Request& request) {
    const auto& from = link(request);
    const auto network = network_in(request, from.index);
    is_changed_ = true;
    ip({"addr", "del", network.text, "dev", from.name});
    std::erase(added_, std::pair{from.name, network.text});
    return Json::object();
}

Json Host::set_mtu(const Request& request) {
    is_changed_ = true;
    ip({"link", "set", "dev", link(request).name, "mtu", std::to_string(request.number("mtu", 0, 65535))});
    return Json::object();
}

void Host::change_mode(const Link& link, const std::string& mode) {
    const auto now = read_text(sysfs(link, "mode"));
    if (!now) refuse_as_unsupported(link.name + " has no modes");
    if (*now == mode) return;
    if (lacks_connected_mode(state(link).link_address)) refuse_as_unsupported(link.name + " has datagram mode only");
    is_changed_ = true;
    must(write_text(sysfs(link, "mode"), mode));
}

Json Host::set_mode(const Request& request) {
    const auto mode = request.text("mode");
    if (mode != "datagram" && mode != "connected") fail("\"mode\" is datagram or connected");
    change_mode(link(request), mode);
    return Json::object();
}

Json Host::set_scope(const Request& request) {
    constexpr std::size_t scope_at = 16, octets_20 = 59;  // in "00:ff:ff:ff:ff:12:40:1b:..."
    constexpr std::uint64_t global = 14;
    const auto& of = link(request);
    const auto now = state(of);
    if (now.broadcast.size() != octets_20) refuse_as_unsupported(of.name + " has no broadcast-GID");
    const auto scope = request.number("scope", 0, global);
    auto broadcast = now.broadcast;
    // Linux does not search for a group; 0 is what it had.
    broadcast[scope_at] = scope == 0 ? before_.broadcast.at(scope_at) : "0123456789abcde"[scope];
    if (broadcast == now.broadcast) return Json::object();
    is_changed_ = true;
    // ib_ipoib reads the address when it joins, which is when the link comes up.
    if (now.is_up) down(request);
    ip({"link", "set", "dev", of.name, "broadcast", broadcast});
    if (now.is_up) up(request);
    return Json::object();
}

Json Host::create_child(const Request& request) {
    constexpr std::size_t most = 64;
    constexpr std::uint64_t full = 0x8000;
    const auto p_key = request.number("pkey", 1, 0xffff) | full;
    if (links_.size() > most) fail("too many children");
    static constexpr std::string_view digits = "0123456789abcdef";
    std::string hex;
    for (unsigned shift = 16; shift > 0; shift -= 4) hex += digits[p_key >> (shift - 4) & 15];
    const auto name = main_link().name + '.' + hex;
    ip({"link", "add", "link", main_link().name, "name", name, "type", "ipoib", "pkey", "0x" + hex});
    links_.push_back({name, ::if_nametoindex(name.c_str())});
    return {{"interface", name}};
}

Json Host::delete_child(const Request& request) {
    const auto name = request.text("interface");
    const auto found =
        std::find_if(links_.begin() + 1, links_.end(), [&](const Link& one) { return one.name == name; });
    if (found == links_.end()) fail("not a child that was made here: " + name);
    ip({"link", "del", "dev", name});
    std::erase_if(added_, [&](const auto& one) { return one.first == name; });
    links_.erase(found);
    return Json::object();
}

void Host::begin() {
    if (has_begun_) return;
    if (!role_.mode.empty()) change_mode(main_link(), role_.mode);
    if (role_.is_router) router_.enable(main_link().name);
    has_begun_ = true;
}

void Host::restore_main() noexcept try {
    const auto& link = main_link();
    const auto now = state(link);
    const auto attempt = [&](auto&& action) {
        try {
            action();
        } catch (const Refusal&) {  // what else can be put back is
        }
    };
    if (now.broadcast != before_.broadcast) {
        attempt([&] { ip({"link", "set", "dev", link.name, "down"}); });
        attempt([&] { ip({"link", "set", "dev", link.name, "broadcast", before_.broadcast}); });
        if (before_.is_up) attempt([&] { ip({"link", "set", "dev", link.name, "up"}); });
    }
    if (!mode_before_.empty()) attempt([&] { change_mode(link, mode_before_); });
    if (state(link).mtu != before_.mtu)
        attempt([&] { ip({"link", "set", "dev", link.name, "mtu", std::to_string(before_.mtu)}); });
    for (const auto& added : added_) attempt([&] { ip({"addr", "del", added.second, "dev", added.first}); });
    if (const bool is_up = state(link).is_up; is_up != before_.is_up)
        attempt([&] { ip({"link", "set", "dev", link.name, before_.is_up ? "up" : "down"}); });
    const auto then = state(link);
    for (const auto& address : before_.addresses) {
        // The kernel makes link-local ones itself.
        if (has(then, address.text) || (!address.is_v4 && address.is_link_local)) continue;
        Arguments arguments{"addr", "add", address.text, "dev", link.name};
        if (address.is_v4) arguments.insert(arguments.end(), {"brd", "+"});
        attempt([&] { ip(arguments); });
    }
} catch (...) {  // the interface is gone
}

void Host::restore() noexcept {
    has_begun_ = false;
    sockets_.close_all();
    dhcp_client_.end(dhcp_patience);
    dhcp_server_.end(dhcp_patience);
    router_.disable();
    for (; links_.size() > 1; links_.pop_back()) {
        const auto name = links_.back().name;
        std::erase_if(added_, [&](const auto& one) { return one.first == name; });
        static_cast<void>(run({"ip", "link", "del", "dev", name}, milliseconds{3000}));
    }
    if (is_changed_) restore_main();
    is_changed_ = false;
    added_.clear();
    settings_.restore();
}

}  // namespace ipoib::host
