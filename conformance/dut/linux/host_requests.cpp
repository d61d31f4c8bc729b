// SPDX-License-Identifier: GPL-2.0-or-later
// The requests by name; those about traffic, neighbours and their timers, and the kernel's log.
#include "conformance/dut/linux/facts.hpp"
#include "conformance/dut/linux/host.hpp"
#include "conformance/dut/linux/unprivileged.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>

namespace ipoib::host {
namespace {

constexpr std::uint64_t most_port = 65535, most_ttl = 255, most_payload = 65507;
constexpr double longest_timer = 86400;
constexpr milliseconds server_patience{8000};

std::vector<std::uint8_t> octets_in(const Request& request, const char* member) {
    const auto text = request.text(member);
    std::vector<std::uint8_t> octets;
    if (text.size() % 2 || text.find_first_not_of("0123456789abcdefABCDEF") != text.npos)
        fail(std::string("\"") + member + "\" is not in hex");
    for (std::size_t i = 0; i < text.size(); i += 2)
        octets.push_back(static_cast<std::uint8_t>(std::stoul(text.substr(i, 2), nullptr, 16)));
    return octets;
}

/// Whether somebody has a UDP socket on the port of DHCP servers (67), as /proc/net/udp tells.
bool is_server_there() {
    const auto sockets = read_text("/proc/net/udp").value_or("");
    return sockets.find(":0043 ") != sockets.npos;
}

std::uint16_t port_in(const Request& request) {
    return static_cast<std::uint16_t>(request.number("port", 1, most_port));
}

/// Some of the blocks of code that ran and that nobody was told of: as many as an answer has room for.
/// "module:function+0x1f".
Json new_blocks(const std::string& path) {
    constexpr std::size_t room = 24'576;
    std::string lines(room, '\0');
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    const auto count = file ? ::read(file.value(), lines.data(), lines.size()) : -1;
    if (count < 0) fail(path + ": " + error_text(errno));
    lines.resize(static_cast<std::size_t>(count));
    Json blocks = Json::array();
    for (std::size_t at = 0; at < lines.size();) {
        const auto end = std::min(lines.find('\n', at), lines.size());
        const auto line = lines.substr(at, end - at);
        const auto size = line.find('/'), module = line.find('['), close = line.find(']');
        if (size != line.npos && module != line.npos && close != line.npos)
            blocks.push_back(line.substr(module + 1, close - module - 1) + ':' + line.substr(0, size));
        at = end + 1;
    }
    return Json{{"blocks", blocks}};
}

}  // namespace

Json Host::hello(const Request& request) {
    begin();
    Json interfaces = Json::array(), can = Json::array();
    for (const auto& one : links_) interfaces.push_back(one.name);
    const auto& of = link(request);
    const auto link_address = state(of).link_address;
    for (const auto& entry : handlers())
        if (entry.first != "set_mode" || !lacks_connected_mode(link_address)) can.push_back(entry.first);
    return {{"protocol", 1},
            {"name", "linux"},
            {"version", kernel_release()},
            {"interfaces", interfaces},
            {"can", can},
            {"facts", facts_of(of.name, link_address)}};
}

Handlers Host::handlers() {
    Handlers all{{"hello", [this](const Request& r) { return hello(r); }},
                 {"interface", [this](const Request& r) { return interface(r); }},
                 {"up", [this](const Request& r) { return up(r); }},
                 {"down", [this](const Request& r) { return down(r); }},
                 {"restart", [this](const Request& r) { return restart(r); }},
                 {"add_address", [this](const Request& r) { return add_address(r); }},
                 {"remove_address", [this](const Request& r) { return remove_address(r); }},
                 {"set_mtu", [this](const Request& r) { return set_mtu(r); }},
                 {"set_scope", [this](const Request& r) { return set_scope(r); }},
                 {"create_child", [this](const Request& r) { return create_child(r); }},
                 {"delete_child", [this](const Request& r) { return delete_child(r); }},
                 {"timers", [this](const Request& r) { return timers(r); }},
                 {"resolve", [this](const Request& r) { return resolve(r); }},
                 {"neighbours", [this](const Request& r) { return neighbours(r); }}};
    all["set_mode"] = [this](const Request& r) { return set_mode(r); };
    all["router"] = [this](const Request& r) {
        r.flag("enabled") ? router_.enable(link(r).name) : router_.disable();
        return Json::object();
    };
    all["bye"] = [this](const Request&) {
        restore();
        return Json::object();
    };
    if (can_drop_privileges())
        all["unprivileged"] = [this](const Request& r) {
            Json attempts = Json::array();
            try {
                for (const auto& [what, is_refused, message] : try_unprivileged(link(r).name))
                    attempts.push_back({{"what", what}, {"refused", is_refused}, {"message", message}});
            } catch (const std::runtime_error& why) {
                fail(why.what());
            }
            return Json{{"attempts", attempts}};
        };
    if (log_.is_readable()) {
        all["log"] = [this](const Request&) { return Json{{"lines", log_.take_lines()}}; };
        all["health"] = [this](const Request& r) { return health(r); };
    }
    if (!role_.coverage.empty()) all["coverage"] = [this](const Request&) { return new_blocks(role_.coverage); };
    add_traffic_handlers(all);
    add_dhcp_handlers(all);
    return all;
}

Json Host::health(const Request&) {
    auto faults = log_.take_faults();
    for (auto& one : accounts_.impossible()) faults.push_back(std::move(one));
    // Under a fuzzer, and once the interface was down: what the kernel keeps to be faster is given back then.
    if (!role_.coverage.empty() && std::exchange(was_down_, false))
        for (auto& one : memory_.growing()) faults.push_back(std::move(one));
    return {{"faults", faults}};
}

/// The programs do what they do when an administrator starts and ends them.
void Host::add_dhcp_handlers(Handlers& all) {
    const auto add = [&](const char* name, const std::string& program, Background& running, bool listens) {
        if (program.empty()) return;
        all[name] = [this, program, &running, listens](const Request& r) {
            const bool is_start = r.has("start");
            if (is_start == r.has("stop") || !r.flag(is_start ? "start" : "stop"))
                fail("\"start\" or \"stop\" is wanted, and true");
            running.end(dhcp_patience);
            try {
                if (is_start) running = Background({program, link(r).name});
            } catch (const std::runtime_error& why) {
                fail(program + ": " + why.what());
            }
            // What comes before a server listens is lost. One that never does so is seen by what it does not answer.
            if (is_start && listens)
                static_cast<void>(wait_until(interruption_, std::min(server_patience, r.patience()),
                                             [&running] { return !running.is_running() || is_server_there(); }));
            return Json::object();
        };
    };
    add("dhcp", role_.dhcp_client, dhcp_client_, false);
    add("dhcp_server", role_.dhcp_server, dhcp_server_, true);
}

void Host::add_traffic_handlers(Handlers& all) {
    all["join"] = [this](const Request& r) {
        sockets_.join(link(r), address(r, "group"));
        return Json::object();
    };
    all["leave"] = [this](const Request& r) {
        sockets_.leave(link(r), address(r, "group"));
        return Json::object();
    };
    all["send"] = [this](const Request& r) {
        const auto to = address(r, "to");
        // RFC 1112, 6.1: multicast stays on the link unless asked otherwise.
        const auto ttl = r.has("ttl") ? r.number("ttl", 0, most_ttl) : (to.is_multicast() ? 1u : 64u);
        Sockets::send(link(r), to, port_in(r), octets_in(r, "payload"), static_cast<int>(ttl));
        return Json::object();
    };
    all["listen"] = [this](const Request& r) {
        std::optional<Address> to;
        if (r.has("address")) to = address(r, "address");
        if (r.has("group")) to = address(r, "group");
        if (r.has("group") && !to->is_multicast()) fail("\"group\" is no multicast address");
        sockets_.listen(link(r), to, port_in(r));
        return Json::object();
    };
    all["received"] = [this](const Request&) { return Json{{"datagrams", sockets_.received()}}; };
    all["ping"] = [this](const Request& r) {
        constexpr milliseconds longest{5000};
        constexpr std::size_t usual = 56;
        const auto size = r.has("size") ? static_cast<std::size_t>(r.number("size", 0, most_payload)) : usual;
        const bool is_answered =
            Sockets::ping(link(r), address(r, "to"), size, std::min(longest, r.patience()), interruption_);
        return Json{{"answered", is_answered}};
    };
    all["flush_neighbours"] = [this](const Request& r) {
        ip({"neigh", "flush", "dev", link(r).name});
        return Json::object();
    };
}

Json Host::resolve(const Request& request) {
    const auto whom = address(request, "address");
    if (whom.is_multicast()) fail("\"address\" is no address of a node");
    const auto& of = link(request);
    if (!state(of).is_running) fail("the interface is not running");
    // NTF_USE: the kernel asks as if there were a packet to send, and there is none.
    ip({"neigh", "replace", whom.text, "dev", of.name, "nud", "none", "use"});
    return Json::object();
}

Json Host::neighbours(const Request& request) const {
    constexpr milliseconds limit{5000};
    const auto outcome = run({"ip", "-j", "neigh", "show", "dev", link(request).name}, limit);
    if (!outcome.is_ok()) fail(outcome.errors);
    Json all = Json::array();
    for (const auto& one : parse_neighbours(outcome.output))
        all.push_back({{"address", one.address}, {"link_address", one.link_address}});
    return {{"neighbours", all}};
}

Json Host::timers(const Request& request) {
    const auto& of = link(request);
    std::vector<std::pair<std::string, std::string>> changes;
    const auto seconds = [&](const char* name) {
        const double value = request.real(name, longest_timer);
        if (value <= 0) fail("timers are seconds");
        return value;
    };
    const auto whole = [](double value) { return std::to_string(std::max(1L, std::lround(value))); };
    for (const auto* const version : {"ipv4", "ipv6"}) {
        const auto neigh = std::string("/proc/sys/net/") + version + "/neigh/";
        if (!read_text(neigh + of.name + "/base_reachable_time_ms")) continue;  // a kernel without IPv6
        if (request.has("reachable"))
            changes.emplace_back(neigh + of.name + "/base_reachable_time_ms",
                                 std::to_string(std::max(1L, std::lround(seconds("reachable") * 1000))));
        if (request.has("gc")) {
            const auto gc = seconds("gc");
            changes.emplace_back(neigh + of.name + "/gc_stale_time", whole(gc));
            // The collector runs every half of the default's reachable time, and only above the threshold.
            changes.emplace_back(neigh + "default/gc_thresh1", "0");
            changes.emplace_back(neigh + "default/base_reachable_time_ms",
                                 std::to_string(std::max(100L, std::lround(gc * 1000))));
        }
    }
    // ib_ipoib forgets a path to a group, and leaves the group, after one to two intervals of the ARP collector.
    if (request.has("membership"))
        changes.emplace_back("/proc/sys/net/ipv4/neigh/default/gc_interval", whole(seconds("membership") / 2));
    for (const auto& [path, value] : changes)
        if (!read_text(path)) refuse_as_unsupported("this network namespace has no " + path);
    for (const auto& [path, value] : changes) must(settings_.change(path, value));
    // A neighbour that was reachable stays so for as long as it was said when it became that.
    if (request.has("reachable")) ip({"neigh", "flush", "dev", of.name});
    return Json::object();
}

}  // namespace ipoib::host
