// SPDX-License-Identifier: GPL-2.0-or-later
// The requests of the DUT control protocol, and what their answers must hold. interfaces.md, "DUT control".
#include "conformance/dut/dut.hpp"

#include "conformance/dut/answer.hpp"

#include <algorithm>
#include <cmath>

namespace ipoib::conformance {

using nlohmann::ordered_json;
using std::chrono::seconds;

/// What a request says beyond its id and its name.
struct Dut::Members {
    ordered_json object = ordered_json::object();
};

namespace {

constexpr seconds usual_deadline{10}, bring_up_deadline{60}, ping_deadline{20};
constexpr std::uint64_t most_mtu = 65535, most_port = 65535, most_ttl = 255;

/// `duration` in whole seconds, stretched for slow machines.
seconds stretched(seconds duration, double scale) {
    constexpr double longest = 1e6;
    const double wanted = std::ceil(static_cast<double>(duration.count()) * scale);
    return seconds{wanted > 1 ? static_cast<std::int64_t>(std::min(wanted, longest)) : 1};
}

/// A name that no adapter was written for. SplitMix64, letter by letter.
std::string unheard_of(std::uint64_t seed) {
    std::string name;
    for (unsigned i = 0; i < 12; ++i) {
        seed += 0x9e3779b97f4a7c15;
        auto mixed = (seed ^ seed >> 30) * 0xbf58476d1ce4e5b9;
        mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
        name += static_cast<char>('a' + (mixed >> 33) % 26);
    }
    return name;
}

template <class Parse>
auto parsed(const AnswerObject& answer, const std::string& name, const std::string& expected, Parse parse) {
    std::vector<typename decltype(parse(std::string{}))::value_type> values;
    for (const auto& written : answer.texts(name)) {
        const auto value = parse(written);
        if (!value) answer.refuse(name, "holds what is no " + expected + ": " + excerpt(written));
        values.push_back(*value);
    }
    return values;
}

auto networks(const AnswerObject& answer, const std::string& name, bool is_v4) {
    return parsed(answer, name, is_v4 ? "IPv4 address with prefix length" : "IPv6 address with prefix length",
                  [is_v4](const std::string& written) {
                      auto network = wire::parse_network(written);
                      if (network && network->address.is_v4() != is_v4) network.reset();
                      return network;
                  });
}

auto multicast_groups(const AnswerObject& answer) {
    return parsed(answer, "groups", "multicast address", [](const std::string& written) {
        auto address = wire::parse_ip(written);
        if (address && !address->is_multicast()) address.reset();
        return address;
    });
}

wire::IpAddress demand_address(const AnswerObject& answer, const std::string& name) {
    answer.demand(name);
    return answer.address(name).value_or(wire::IpAddress{});
}

std::string all_of(const std::vector<std::string>& names) {
    std::string text;
    for (const auto& name : names) text += (text.empty() ? "" : ", ") + name;
    return text;
}

}  // namespace

Dut::Dut(DutControl& control, std::string interface, double timeout_scale)
    : control_(control), interface_(std::move(interface)), scale_(timeout_scale) {}

AnswerObject Dut::request(const std::string& what) { return request(what, Members{}); }

AnswerObject Dut::request(const std::string& what, const Members& members, seconds deadline) {
    ordered_json line{{"id", next_id_}, {"do", what}};
    if (!interface_.empty()) line["interface"] = interface_;
    if (deadline > seconds{0}) line["deadline"] = stretched(deadline, scale_).count();
    line.update(members.object);
    const auto written = json_line(line);
    if (written.size() > longest_control_line) throw ControlFailed(what + ": the request is longer than 64 KiB");

    const auto id = next_id_++;
    // Until it has answered once, its program may still be starting, which takes what it takes.
    const auto scale = is_starting_ ? std::max(scale_, 1.0) : scale_;
    const auto reply = control_.ask(written, stretched(deadline > seconds{0} ? deadline : usual_deadline, scale));
    is_starting_ = false;
    if (!reply.error.empty()) throw ChannelBroken(what + ": " + reply.error);
    if (reply.line.size() > longest_control_line) throw ChannelBroken(what + ": the answer is longer than 64 KiB");
    return read_answer(reply.line, id, what);
}

void Dut::probe_honesty(std::uint64_t seed) {
    const auto name = unheard_of(seed);
    std::string claim = "to have done it";
    try {
        static_cast<void>(request(name));
    } catch (const Unsupported&) {
        return;
    } catch (const ControlFailed&) {
        claim = "that it failed";
    } catch (const ChannelBroken& broken) {
        // Nobody is to puzzle over a name that means nothing.
        std::string words = broken.what();
        const auto quoted = "'" + name + "'";
        if (const auto at = words.find(quoted); at != std::string::npos)
            words.replace(at, quoted.size(), "the first request");
        else if (words.starts_with(name))
            words.replace(0, name.size(), "the first request");
        throw ChannelBroken(words);
    }
    throw ChannelBroken("the adapter was asked for '" + name + "', which does not exist, and says " + claim +
                        "; it must answer 'unsupported', or none of its answers proves anything");
}

void Dut::greet(std::uint64_t seed) {
    is_starting_ = true;
    probe_honesty(seed);
    const auto hello = request("hello");
    for (const auto* const member : {"protocol", "name", "can"}) hello.demand(member);
    const auto version = hello.number("protocol", std::numeric_limits<std::uint32_t>::max());
    if (version != control_version)
        hello.refuse("protocol", "is " + std::to_string(*version) + "; this suite speaks version " +
                                     std::to_string(control_version));

    name_ = hello.text("name").value_or("");
    version_ = hello.text("version").value_or("");
    can_ = hello.texts("can");
    const auto interfaces = hello.texts("interfaces");
    if (!interface_.empty() && !interfaces.empty() && std::ranges::find(interfaces, interface_) == interfaces.end())
        hello.refuse("interfaces", "has no " + excerpt(interface_) + "; there are " + all_of(interfaces));

    facts_ = {{"name", name_}, {"version", version_}};
    for (auto& fact : hello.pairs("facts"))
        if (fact.first != "name" && fact.first != "version") facts_.push_back(std::move(fact));
}

bool Dut::can(std::string_view request) const { return std::ranges::find(can_, request) != can_.end(); }

InterfaceFacts Dut::interface() {
    const auto answer = request("interface");
    InterfaceFacts facts;
    if (const auto address = answer.octets("link_address"); address && !address->empty()) {
        if (address->size() != wire::LinkAddress::size)
            answer.refuse("link_address", "has " + std::to_string(address->size()) + " octets, not 20");
        std::ranges::copy(*address, facts.link_address.emplace().octets.begin());
    }
    facts.mtu = static_cast<std::size_t>(answer.number("mtu", most_mtu).value_or(0));
    facts.ipv4 = networks(answer, "ipv4", true);
    facts.ipv6 = networks(answer, "ipv6", false);
    facts.is_up = answer.flag("up").value_or(false);
    facts.mode = answer.text("mode").value_or("");
    facts.groups = multicast_groups(answer);
    return facts;
}

/// What is not told cannot be taken back: it stays as it was set.
InterfaceFacts Dut::as_far_as_told() {
    try {
        return interface();
    } catch (const Unsupported&) {
    } catch (const ControlFailed&) {
    }
    return {};
}

void Dut::up() { request("up", {}, bring_up_deadline); }
void Dut::down() { request("down"); }
void Dut::restart() { request("restart", {}, bring_up_deadline); }
void Dut::add_address(const wire::IpNetwork& address) { request("add_address", {{{"address", text(address)}}}); }
void Dut::remove_address(const wire::IpNetwork& address) { request("remove_address", {{{"address", text(address)}}}); }
void Dut::lend_address(const wire::IpNetwork& address) {
    add_address(address);
    undo_later([this, address] { remove_address(address); });
}
void Dut::set_mtu(std::size_t mtu) {
    const auto before = as_far_as_told().mtu;
    request("set_mtu", {{{"mtu", mtu}}});
    if (before != 0) undo_later([this, before] { request("set_mtu", {{{"mtu", before}}}); });
}
void Dut::set_mode(std::string_view mode) {
    const auto before = as_far_as_told().mode;
    request("set_mode", {{{"mode", mode}}});
    if (!before.empty() && before != mode) undo_later([this, before] { request("set_mode", {{{"mode", before}}}); });
}
void Dut::configure_scope(unsigned scope) {
    request("set_scope", {{{"scope", scope}}});
    scope_ = scope;
}
void Dut::set_scope(unsigned scope) {
    request("set_scope", {{{"scope", scope}}});
    undo_later([this] { request("set_scope", {{{"scope", scope_}}}); });
}
std::string Dut::create_child(std::uint16_t p_key) {
    auto name = request("create_child", {{{"pkey", p_key}}}).text("interface").value_or("");
    if (!name.empty()) undo_later([this, name] { delete_child(name); });
    return name;
}
void Dut::delete_child(const std::string& interface) { request("delete_child", {{{"interface", interface}}}); }
void Dut::router(bool is_enabled) {
    request("router", {{{"enabled", is_enabled}}});
    if (is_enabled) undo_later([this] { request("router", {{{"enabled", false}}}); });
}
void Dut::join(const wire::IpAddress& group) {
    request("join", {{{"group", text(group)}}});
    undo_later([this, group] { leave(group); });
}
void Dut::leave(const wire::IpAddress& group) { request("leave", {{{"group", text(group)}}}); }

void Dut::send(const wire::IpAddress& to, std::uint16_t port, wire::Octets payload, unsigned ttl) {
    const auto hex = wire::hex_octets(payload, payload.size());
    request("send", {{{"to", text(to)}, {"port", port}, {"payload", hex}, {"ttl", ttl}}});
}

void Dut::listen(const wire::IpAddress& address_or_group, std::uint16_t port) {
    const auto* const member = address_or_group.is_multicast() ? "group" : "address";
    request("listen", {{{member, text(address_or_group)}, {"port", port}}});
}

void Dut::listen(std::uint16_t port) { request("listen", {{{"port", port}}}); }

std::vector<DatagramReceived> Dut::received() {
    const auto answer = request("received");
    answer.demand("datagrams");
    std::vector<DatagramReceived> datagrams;
    for (const auto& one : answer.objects("datagrams")) {
        for (const auto* const member : {"port", "payload"}) one.demand(member);
        const auto payload = one.octets("payload").value_or(std::vector<std::uint8_t>{});
        datagrams.push_back({.from = demand_address(one, "from"),
                             .to = demand_address(one, "to"),
                             .port = static_cast<std::uint16_t>(one.number("port", most_port).value_or(0)),
                             .payload = wire::hex_octets(payload, payload.size()),
                             .ttl = static_cast<unsigned>(one.number("ttl", most_ttl).value_or(0))});
    }
    return datagrams;
}

bool Dut::ping(const wire::IpAddress& to, std::size_t size) {
    const auto answer = request("ping", {{{"to", text(to)}, {"size", size}}}, ping_deadline);
    answer.demand("answered");
    return answer.flag("answered").value_or(false);
}

void Dut::resolve(const wire::IpAddress& address) { request("resolve", {{{"address", text(address)}}}); }

std::vector<NeighbourEntry> Dut::neighbours() {
    const auto answer = request("neighbours");
    answer.demand("neighbours");
    std::vector<NeighbourEntry> entries;
    for (const auto& one : answer.objects("neighbours"))
        entries.push_back(
            {demand_address(one, "address"), one.octets("link_address").value_or(std::vector<std::uint8_t>{})});
    return entries;
}

void Dut::flush_neighbours() { request("flush_neighbours"); }

void Dut::timers(unsigned reachable, unsigned gc, unsigned membership) {
    Members members;
    if (reachable) {
        members.object["reachable"] = reachable;
        // RFC 4861, 10.
        static constexpr unsigned usual = 30;
        if (reachable != usual) undo_later([this] { request("timers", {{{"reachable", usual}}}); });
    }
    if (gc) members.object["gc"] = gc;
    if (membership) members.object["membership"] = membership;
    request("timers", members);
}

void Dut::start_or_stop(const char* service, bool is_started) {
    request(service, {{{is_started ? "start" : "stop", true}}});
    if (is_started) undo_later([this, service] { request(service, {{{"stop", true}}}); });
}
void Dut::dhcp(bool is_started) { start_or_stop("dhcp", is_started); }
void Dut::dhcp_server(bool is_started) { start_or_stop("dhcp_server", is_started); }

std::vector<std::string> Dut::log() {
    const auto answer = request("log");
    answer.demand("lines");
    return answer.texts("lines");
}

std::vector<std::string> Dut::coverage() {
    std::vector<std::string> all;
    // A line has room for so many.
    constexpr unsigned most_lines = 64;
    for (unsigned i = 0; i < most_lines; ++i) {
        const auto answer = request("coverage");
        answer.demand("blocks");
        const auto blocks = answer.texts("blocks");
        if (blocks.empty()) break;
        all.insert(all.end(), blocks.begin(), blocks.end());
    }
    return all;
}

std::vector<SetupAttempt> Dut::unprivileged() {
    const auto answer = request("unprivileged");
    answer.demand("attempts");
    std::vector<SetupAttempt> attempts;
    for (const auto& one : answer.objects("attempts")) {
        one.demand("what");
        one.demand("refused");
        attempts.push_back({one.text("what").value_or(""), one.flag("refused").value_or(false)});
    }
    return attempts;
}

std::vector<std::string> Dut::health() try {
    const auto answer = request("health");
    answer.demand("faults");
    return answer.texts("faults");
} catch (const Unsupported&) {
    return {};
}

void Dut::undo() {
    const auto requests = std::exchange(undo_, {});
    for (auto one = requests.rbegin(); one != requests.rend(); ++one) try {
            (*one)();
        } catch (const Unsupported&) {
        } catch (const ControlFailed&) {  // it was taken back by the case itself, or cannot be
        }
}

void Dut::bye() noexcept {
    try {
        request("bye");
    } catch (...) {  // the adapter restores at the end of its input too
    }
}

}  // namespace ipoib::conformance
