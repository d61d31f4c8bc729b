// SPDX-License-Identifier: GPL-2.0-or-later
// What hosts do by themselves, and what they do when something changes.
#include "conformance/recall/life.hpp"

#include "conformance/metamorphic/foreign.hpp"
#include "protocol/wire/igmp.hpp"
#include "protocol/wire/mld.hpp"
#include "protocol/wire/mtu.hpp"
#include "traffic-gen/manager.hpp"
#include "traffic-gen/profiles/exchanges.hpp"

#include <array>
#include <map>

namespace ipoib::recall {
using namespace wire;

namespace {

constexpr std::int64_t second = 1'000'000'000;
constexpr unsigned hosts = 4;
constexpr std::uint32_t all_hosts = 0xe0000001, all_routers = 0xe0000002;
constexpr std::uint16_t default_partition = 0xffff;

build::Link first_link(const LifeOptions& options) {
    const auto n = options.seed;
    return {.p_key = static_cast<std::uint16_t>(0x8120 + n),
            .q_key = 0x80000b1b + static_cast<std::uint32_t>(n),
            .sl = static_cast<std::uint8_t>(1 + n % 7),
            .traffic_class = static_cast<std::uint8_t>(0x20 + n),
            .hop_limit = static_cast<std::uint8_t>(1 + n % 3),
            .flow_label = 0x12345 + static_cast<std::uint32_t>(n),
            .mtu = static_cast<std::uint8_t>(options.is_connected ? 5 : 4)};
}

/// Headers of IP and what is over it.
std::size_t headers(Family family) { return family == Family::ipv4 ? Ipv4::size + Udp::size : Ipv6::size + 8; }

std::uint32_t low(const Gid& gid) { return static_cast<std::uint32_t>(gid.interface_id()); }

template <class Message>
build::PacketBuilder with_receive_mtu(build::PacketBuilder packet, std::uint32_t mtu) {
    auto octets = packet.get<Message>()[Message::private_data];
    set_field(MutableOctets{octets}, CmPrivateData::receive_mtu, mtu);
    return packet.choose(Message::private_data, octets);
}

}  // namespace

Life::Life(const LifeOptions& options, Trace& trace)
    : options_(options),
      trace_(trace),
      scene_({.hosts = hosts, .groups = 2, .partitions = 1, .link = first_link(options)}),
      keeper_(trace),
      stage_(scene_, {.count = traffic::StageOptions::no_bound, .seed = options.seed}, keeper_),
      link_(scene_.net().link),
      hosts_(scene_.net().hosts) {
    if (options.is_connected) hosts_[sender].link_flags = hosts_[neighbour].link_flags = flag_rc;
    if (!options.has_machine) return;
    auto machine = scene_.other(0);
    machine.lid = hosts_[neighbour].lid;
    hosts_.push_back(machine);
}

void Life::say(Talk talk, const View& view, const Make& make) {
    stage_.send(make(view));
    const auto number = static_cast<std::uint32_t>(trace_.frames.size() - 1);
    const auto& frame = trace_.frames.back();
    Packet packet;
    decode(frame.octets, packet);
    const bool is_group = !view.mgid.is_zero();
    const std::tuple flow{talk, low(view.from.ipv6), is_group ? low(view.mgid) : low(view.to.ipv6)};
    for (auto& one : formers_) {
        auto claim = broken_by(one.field, talk);
        if (claim.empty()) continue;
        auto before = view;
        one.back(before);
        auto octets = make(before).choose(Bth::psn, packet.bth[Bth::psn]).build();
        if (std::ranges::equal(octets, frame.octets)) continue;
        const bool has_used = !one.used.insert(flow).second;
        if (!has_used || frame.time - one.since < handover) continue;
        violations_.push_back({.kind = std::string(name_of(one.field)),
                               .claims = {std::move(claim)},
                               .edits = {{number, std::move(octets)}},
                               .is_provable = is_provable(one.field, talk),
                               .is_by_manager = one.field == Field::sender_gid});
    }
}

void Life::left_out(std::string_view kind, Claim claim, std::size_t begin, std::size_t end) {
    if (begin == end) return;
    Violation violation{.kind = std::string(kind), .claims = {std::move(claim)}, .is_late = true};
    for (auto i = begin; i < end; ++i) violation.edits.push_back({static_cast<std::uint32_t>(i), {}});
    violations_.push_back(std::move(violation));
}

void Life::instead(std::string_view kind, Claim claim, build::PacketBuilder packet) {
    const auto number = static_cast<std::uint32_t>(trace_.frames.size() - 1);
    Packet before;
    decode(trace_.frames.back().octets, before);
    packet.choose(Bth::psn, before.bth[Bth::psn]);
    violations_.push_back(
        {.kind = std::string(kind), .claims = {std::move(claim)}, .edits = {{number, packet.build()}}});
}

void Life::former(Field field, std::function<void(View& view)> back) {
    formers_.push_back({field, now(), std::move(back)});
}

View Life::view(std::size_t from, std::size_t to) const { return {hosts_[from], hosts_[to], link_}; }

View Life::group_view(std::size_t from, const Gid& mgid) {
    auto view = this->view(from, from);
    view.mgid = mgid;
    view.mlid = scene_.mlid(mgid);
    return view;
}

Gid Life::group_mgid() const {
    return is_ipv6() ? mgid_for_ipv6(scene_.group6(group_), link_.p_key, link_.scope)
                     : mgid_for_ipv4(scene_.group4(group_), link_.p_key, link_.scope);
}
Gid Life::solicited_mgid(std::size_t host) const {
    return mgid_for_ipv6(solicited_node_group(hosts_[host].ipv6), link_.p_key, link_.scope);
}
/// Of those who are told of members.
Gid Life::routers_mgid() const {
    return is_ipv6() ? mgid_for_ipv6(build::all_mldv2_routers(), link_.p_key, link_.scope)
                     : mgid_for_ipv4(all_routers, link_.p_key, link_.scope);
}

std::size_t Life::largest() const { return mtu_octets(link_.mtu) - Encap::size - headers(options_.family); }

void Life::port_is_set(std::size_t host, PortState state, bool asks_to_register) {
    auto info = traffic::port_info_of(hosts_[host], scene_.administrator(), link_);
    // A link of the fabric takes all that the broadcast group may have.
    constexpr std::uint8_t mtu_4096 = 5;
    info.set(PortInfo::port_state, state)
        .set(PortInfo::client_reregister, asks_to_register)
        .set(PortInfo::neighbor_mtu, mtu_4096)
        .set(PortInfo::mtu_cap, mtu_4096);
    traffic::manage(stage_, hosts_[host], Method::set, smp_attribute::port_info, info, 1);
}

void Life::p_keys_are_set(std::size_t host, std::uint16_t p_key) {
    const std::array table{default_partition, p_key};
    traffic::manage(stage_, hosts_[host], Method::set, smp_attribute::p_key_table, build::p_key_block(table));
}

void Life::joins(std::size_t host, const Gid& mgid, std::uint8_t state) {
    traffic::join(stage_, hosts_[host], link_, mgid, state);
}

void Life::subscribes(std::size_t host) { traffic::subscribe(stage_, hosts_[host]); }

void Life::announces(std::size_t host) {
    if (is_ipv6()) return traffic::announce6(stage_, hosts_[host], link_);
    auto own = view(host, host);
    own.mgid = link_.broadcast_gid();
    say(Talk::solicitation, own, [](const View& v) { return build::arp_request(v.from, v.from.ipv4, v.link); });
}

/// The interface, whether it was there before or not. A sender to groups wants to be told of them.
void Life::enters(std::size_t host, Owed owed) {
    const auto duty_if = [&](bool is_due, std::string_view kind, Claim claim, const auto& act) {
        if (is_due)
            duty(kind, std::move(claim), act);
        else
            act();
    };
    const bool owes_joins = owed != Owed::nothing;
    duty_if(owes_joins, "no join of the broadcast group",
            {&rfc4391::broadcast_full_member_join, &rfc4392::stays_in_broadcast_group},
            [&] { joins(host, link_.broadcast_gid(), join_state::full_member); });
    // A router's is another statement's.
    if (host != router || !options_.has_router)
        duty_if(owed == Owed::all && (is_ipv6() || host == sender), "no subscription",
                {&rfc4391::group_trap_subscription}, [&] { subscribes(host); });
    if (is_ipv6()) {
        traffic::join_all_nodes(stage_, hosts_[host], link_);
        duty_if(owes_joins, "no join of the solicited-node group", {&rfc4392::receiver_joins},
                [&] { joins(host, solicited_mgid(host), join_state::full_member); });
    } else {
        joins(host, mgid_for_ipv4(all_hosts, link_.p_key, link_.scope), join_state::full_member);
    }
    if (host == router) joins(host, routers_mgid(), join_state::full_member);
    announces(host);
}

void Life::reports(bool is_join) {
    const auto to_routers = [&] {
        joins(listener, routers_mgid(), join_state::send_only_non_member);
        return group_view(listener, routers_mgid());
    };
    if (is_ipv6()) {
        const auto type = is_join ? group_record::to_exclude : group_record::to_include;
        say(Talk::to_group, to_routers(), [type, group = scene_.group6(group_)](const View& v) {
            return build::mld_report(v.from, type, group, v.mlid, v.link);
        });
    } else {
        const auto type = is_join ? igmp_type::report_v2 : igmp_type::leave;
        say(Talk::to_group, is_join ? group_view(listener, group_mgid()) : to_routers(),
            [type, group = scene_.group4(group_)](const View& v) {
                return build::igmp(v.from, type, group, v.mlid, v.link);
            });
    }
}

void Life::listens(bool is_anew) {
    const auto join = [&] { joins(listener, group_mgid(), join_state::full_member); };
    is_anew ? duty("no join to listen", {&rfc4391::receiver_full_member_join}, join) : join();
    reports(true);
}

void Life::joins_to_send(bool is_anew) {
    const auto join = [&] { joins(sender, group_mgid(), join_state::send_only_non_member); };
    is_anew ? duty("no join to send", {&rfc4391::sender_joins_first}, join) : join();
}

void Life::uses_groups(bool is_anew) {
    listens(is_anew);
    joins_to_send(is_anew);
}

void Life::is_told(std::uint16_t number, const Gid& mgid) {
    for (const auto& host : hosts_) {
        auto report = build::group_report(scene_.administrator(), host, number, mgid);
        report.choose(Mad::transaction_id, stage_.transaction());
        stage_.send(report);
        stage_.send(report.choose(Lrh::dlid, scene_.administrator().lid)
                        .choose(Lrh::slid, host.lid)
                        .choose(Mad::method, Method::report_resp));
    }
}

/// The broadcast group, that of all hosts or nodes, and the one that is listened to.
void Life::reads_table() {
    const auto& host = hosts_[router];
    const auto record = [&](const Gid& mgid) {
        return build::group_record(host, link_, mgid, scene_.mlid(mgid), 0).set(McMemberRecord::port_gid, {});
    };
    const std::array records{record(link_.broadcast_gid()), record(routers_mgid()), record(group_mgid())};
    const auto transaction = stage_.transaction();
    stage_.send(build::group_table_request(host, scene_.administrator(), transaction));
    stage_.send(build::group_table(scene_.administrator(), host, transaction, records));
    stage_.send(build::group_table_acknowledgement(host, scene_.administrator(), transaction));
}

/// A multicast router wants all groups, and to be told of new ones. RFC 4391, 11.
void Life::routes(bool is_anew) {
    const auto follows = [&] { subscribes(router); };
    const auto join = [&] { joins(router, group_mgid(), join_state::non_member); };
    reads_table();
    queries();
    is_anew ? duty("router without subscription", {&rfc4391::router_wildcard_subscription}, follows) : follows();
    joins(router, link_.broadcast_gid(), join_state::non_member);
    joins(router, routers_mgid(), join_state::non_member);
    is_anew ? duty("router without join", {&rfc4391::router_non_member_join}, join) : join();
}

/// As a router does that wants to know of members of groups of IPv4.
void Life::queries() {
    const auto mgid = mgid_for_ipv4(all_hosts, link_.p_key, link_.scope);
    joins(router, mgid, join_state::full_member);
    say(Talk::to_group, group_view(router, mgid),
        [](const View& v) { return build::igmp(v.from, igmp_type::query, all_hosts, v.mlid, v.link); });
}

void Life::asks_for_path(std::size_t from, std::size_t to) {
    traffic::ask_for_path(stage_, hosts_[from], hosts_[to], link_);
}

void Life::resolves(std::size_t from, std::size_t to) {
    if (is_ipv6()) {
        joins(from, solicited_mgid(to), join_state::send_only_non_member);
        auto asks = group_view(from, solicited_mgid(to));
        asks.to = hosts_[to];
        say(Talk::solicitation, asks,
            [](const View& v) { return build::neighbour_solicitation(v.from, v.to.ipv6, v.mlid, v.link); });
        say(Talk::advertisement, view(to, from),
            [](const View& v) { return build::neighbour_advertisement(v.from, v.to, v.link); });
    } else {
        auto asks = view(from, to);
        asks.mgid = link_.broadcast_gid();
        say(Talk::solicitation, asks, [](const View& v) { return build::arp_request(v.from, v.to.ipv4, v.link); });
        say(Talk::arp_reply, view(to, from), [](const View& v) { return build::arp_reply(v.from, v.to, v.link); });
    }
}

/// Others resolve a host anew, and it them.
void Life::all_find(std::size_t host) {
    for (std::size_t i = 0; i < hosts_.size(); ++i) {
        if (i == host) continue;
        resolves(i, host);
        asks_for_path(i, host);
        asks_for_path(host, i);
    }
}

void Life::speaks(std::size_t from, std::size_t to, std::size_t size) {
    const auto is_ipv6 = this->is_ipv6();
    auto one = view(from, to);
    one.size = size;
    say(Talk::unicast, one, [is_ipv6](const View& v) {
        return is_ipv6 ? build::echo_request6(v.from, v.to, v.link, 1, v.size)
                       : build::udp(v.from, v.to, v.link, v.size);
    });
}

build::PacketBuilder Life::group_packet(const View& view) const {
    return is_ipv6() ? build::udp6_to_group(view.from, scene_.group6(group_), view.mlid, view.link, view.size)
                     : build::udp_to_group(view.from, scene_.group4(group_), view.mlid, view.link, view.size);
}

void Life::speaks_to_group(std::size_t size) {
    auto one = group_view(sender, group_mgid());
    one.size = size;
    say(Talk::to_group, one, [this](const View& v) { return group_packet(v); });
}

/// A program of other ports, and the manager, which looks after a port.
void Life::others() {
    const auto& programs = metamorphic::foreign_programs();
    const auto& program = *programs[others_ % programs.size()];
    if (const auto index = others_++ / programs.size(); index < program.size()) {
        pause(1);
        auto frame = program.frames()[index];
        frame.time = now() + second / 1000;
        frame.from = static_cast<std::uint32_t>(trace_.frames.size());
        trace_.frames.push_back(frame);
    }
    const auto host = others_ % hosts;
    traffic::manage(stage_, hosts_[host], Method::get, smp_attribute::port_info,
                    traffic::port_info_of(hosts_[host], scene_.administrator(), link_), 1);
}

void Life::time_passes() {
    for (unsigned i = 0; i < 6; ++i) {
        others();
        pause(1900);
    }
}

void Life::comes_up() {
    for (std::size_t host = 0; host < hosts; ++host) {
        port_is_set(host, PortState::armed, false);
        port_is_set(host, PortState::active, false);
        p_keys_are_set(host, link_.p_key);
    }
    pause(1500);
    if (options_.has_machine)
        traffic::manage(stage_, hosts_[neighbour], Method::set, smp_attribute::guid_info,
                        traffic::guid_block(hosts_[neighbour], std::span{&hosts_.back(), 1}));
    for (std::size_t host = 0; host < hosts_.size(); ++host) {
        enters(host, Owed::nothing);
        pause(700);
    }
    uses_groups(false);
    if (options_.has_router) routes(false);
    for (std::size_t host = 0; host < hosts_.size(); ++host) all_find(host);
    if (options_.is_connected) connects(65524);
    goes_on(3);
}

void Life::goes_on(unsigned rounds) {
    for (unsigned i = 0; i < rounds; ++i) {
        for (const auto& [one, other] : {std::pair{sender, neighbour}, {neighbour, listener}, {listener, sender}}) {
            if ((i + one) % 2 == 0) resolves(one, other);
            speaks(one, other, stage_.any(2) == 0 ? 64 : largest());
            speaks(other, one, 64);
            pause(800 + static_cast<std::int64_t>(stage_.any(400)));
        }
        if (options_.has_machine) {
            resolves(sender, hosts_.size() - 1);
            speaks(sender, hosts_.size() - 1, 64);
            speaks(hosts_.size() - 1, sender, 64);
        }
        if (i % 2 == 0) {
            resolves(router, sender);
            resolves(listener, router);
            speaks(router, sender, 64);
            speaks(sender, router, 64);
        }
        if (options_.has_router) queries();
        speaks_to_group(i % 3 == 0 ? largest() : 64);
        if (i % 4 == 0) reports(true);
        if (is_connected_) speaks_connected();
        others();
        pause(1200 + static_cast<std::int64_t>(stage_.any(600)));
    }
}

void Life::manager_fails_over(bool asks_to_register, bool has_new_parameters) {
    auto next = scene_.other(0xfff);
    next.qpn = scene_.administrator().qpn;
    scene_.set_administrator(next);
    for (std::size_t host = 0; host < hosts; ++host) port_is_set(host, PortState::active, asks_to_register);
    if (!asks_to_register) return goes_on(6);
    stage_.forget_memberships();
    if (has_new_parameters) {
        const auto before = link_;
        std::map<Gid, std::uint16_t> mlids;
        std::vector<Gid> groups{group_mgid(), routers_mgid()};
        for (std::size_t host = 0; host < hosts_.size(); ++host) groups.push_back(solicited_mgid(host));
        for (const auto& group : groups) mlids[group] = scene_.mlid(group);
        scene_.forget_mlids();
        link_.broadcast_mlid = scene_.mlid(link_.broadcast_gid());
        link_.q_key += 0x100;
        link_.sl ^= 8;
        link_.flow_label ^= 0x10000;
        link_.traffic_class ^= 0x40;
        link_.hop_limit = static_cast<std::uint8_t>(link_.hop_limit + 4);
        link_.mtu = 3;
        former(Field::mlid, [=, broadcast = link_.broadcast_gid()](View& v) {
            if (v.mgid == broadcast) v.link.broadcast_mlid = before.broadcast_mlid;
            if (const auto found = mlids.find(v.mgid); found != mlids.end()) v.mlid = found->second;
        });
        former(Field::q_key, [=](View& v) { v.link.q_key = before.q_key; });
        former(Field::sl, [=](View& v) { v.link.sl = before.sl; });
        former(Field::flow_label, [=](View& v) { v.link.flow_label = before.flow_label; });
        former(Field::traffic_class, [=](View& v) { v.link.traffic_class = before.traffic_class; });
        former(Field::hop_limit, [=](View& v) { v.link.hop_limit = before.hop_limit; });
        const auto larger = mtu_octets(before.mtu) - Encap::size - headers(options_.family);
        former(Field::mtu, [=](View& v) { v.size = larger; });
    }
    pause(1500);
    for (std::size_t host = 0; host < hosts_.size(); ++host) {
        enters(host, Owed::all);
        pause(500);
    }
    uses_groups(true);
    if (options_.has_router) routes(true);
    if (has_new_parameters)
        for (std::size_t host = 0; host < hosts_.size(); ++host) all_find(host);
    goes_on(12);
}

void Life::restarts(std::size_t host, bool is_clean) {
    const auto before = hosts_[host];
    if (is_clean) traffic::leave_link(stage_, before, link_);
    pause(4000);
    hosts_[host].qpn = next_qpn_++;
    stage_.forget_memberships(before.gid);
    port_is_set(host, PortState::armed, false);
    port_is_set(host, PortState::active, true);
    pause(1000);
    enters(host, Owed::all);
    if (host == listener) listens(true);
    if (host == sender) joins_to_send(true);
    all_find(host);
    former(Field::receiver_qpn, [before](View& v) {
        if (v.to.gid == before.gid) v.to.qpn = before.qpn;
    });
    former(Field::sender_qpn, [before](View& v) {
        if (v.from.gid == before.gid) v.from.qpn = before.qpn;
    });
    goes_on(12);
}

void Life::bounces(std::size_t host, bool asks_to_register) {
    pause(3000);
    port_is_set(host, PortState::armed, false);
    port_is_set(host, PortState::active, asks_to_register);
    if (asks_to_register) {
        stage_.forget_memberships(hosts_[host].gid);
        enters(host, Owed::all);
        if (host == listener) listens(true);
        if (host == sender) joins_to_send(true);
    }
    goes_on(10);
}

void Life::address_moves(std::size_t from, std::size_t to) {
    const auto before = hosts_[from];
    std::swap(hosts_[from].ipv4, hosts_[to].ipv4);
    std::swap(hosts_[from].ipv6, hosts_[to].ipv6);
    for (const auto host : {from, to}) {
        if (is_ipv6()) joins(host, solicited_mgid(host), join_state::full_member);
        announces(host);
    }
    for (const auto host : {from, to}) all_find(host);
    former(Field::link_address, [before, family = options_.family](View& v) {
        const bool is_it = family == Family::ipv4 ? v.to.ipv4 == before.ipv4 : v.to.ipv6 == before.ipv6;
        if (is_it && v.mgid.is_zero()) v.to = before;
    });
    goes_on(12);
}

void Life::machine_moves() {
    auto& machine = hosts_.back();
    const auto before = machine;
    if (is_second_life()) traffic::leave_link(stage_, machine, link_);
    traffic::manage(stage_, hosts_[neighbour], Method::set, smp_attribute::guid_info,
                    traffic::guid_block(hosts_[neighbour], {}));
    pause(2000);
    machine.lid = hosts_[listener].lid;
    machine.qpn = next_qpn_++;
    traffic::manage(stage_, hosts_[listener], Method::set, smp_attribute::guid_info,
                    traffic::guid_block(hosts_[listener], std::span{&machine, 1}));
    stage_.forget_memberships(machine.gid);
    enters(hosts_.size() - 1, is_second_life() ? Owed::joins : Owed::nothing);
    all_find(hosts_.size() - 1);
    former(Field::receiver_qpn, [before](View& v) {
        if (v.to.gid == before.gid) v.to.qpn = before.qpn;
    });
    former(Field::receiver_lid, [before](View& v) {
        if (v.to.gid == before.gid) v.to.lid = before.lid;
    });
    goes_on(12);
}

void Life::lid_changes(std::size_t host, bool asks_to_register) {
    const auto before = hosts_[host];
    hosts_[host].lid = static_cast<std::uint16_t>(0x0700 + options_.seed);
    const std::array route{std::uint8_t{1}, static_cast<std::uint8_t>(1 + host)};
    auto info = traffic::port_info_of(hosts_[host], scene_.administrator(), link_);
    info.set(PortInfo::client_reregister, asks_to_register);
    traffic::manage_by_route(stage_, route, Method::set, smp_attribute::port_info, info, 1);
    pause(1000);
    if (asks_to_register) {
        stage_.forget_memberships(before.gid);
        enters(host, Owed::all);
        if (host == listener) listens(true);
    }
    all_find(host);
    former(Field::receiver_lid, [before](View& v) {
        if (v.to.gid == before.gid) v.to.lid = before.lid;
    });
    goes_on(12);
}

void Life::partition_changes() {
    const auto before = link_;
    for (std::size_t host = 0; host < hosts; ++host) traffic::leave_link(stage_, hosts_[host], link_);
    pause(2000);
    link_.p_key = static_cast<std::uint16_t>(link_.p_key + 0x40);
    link_.broadcast_mlid = scene_.mlid(link_.broadcast_gid());
    for (std::size_t host = 0; host < hosts; ++host) {
        p_keys_are_set(host, link_.p_key);
        hosts_[host].qpn = next_qpn_++;
    }
    pause(1000);
    for (std::size_t host = 0; host < hosts; ++host) {
        // As before, and the administrator grants it. The manager's packets do not count, so one that has given the
        // P_Key back may be missing.
        const auto begin = trace_.frames.size();
        enters(host, Owed::nothing);
        Violation violation{.kind = "join with a stale P_Key",
                            .claims = {{&rfc4391::pkey_assigned_to_port}},
                            .is_late = true,
                            .is_provable = false};
        for (auto i = begin; i < begin + 2; ++i) {
            Packet packet;
            decode(trace_.frames[i].octets, packet);
            auto builder = build::PacketBuilder::of(packet);
            builder.choose(McMemberRecord::mgid, before.broadcast_gid()).choose(McMemberRecord::p_key, before.p_key);
            violation.edits.push_back({static_cast<std::uint32_t>(i), builder.build()});
        }
        violations_.push_back(std::move(violation));
        pause(500);
    }
    uses_groups(false);
    for (std::size_t host = 0; host < hosts; ++host) all_find(host);
    former(Field::p_key, [before](View& v) {
        v.link.p_key = before.p_key;
        v.link.broadcast_mlid = before.broadcast_mlid;
    });
    goes_on(12);
}

void Life::p_key_is_taken() {
    constexpr std::uint16_t another = 0x8777;
    traffic::leave_link(stage_, hosts_[neighbour], link_);
    p_keys_are_set(neighbour, another);
    for (unsigned i = 0; i < 5; ++i) {
        pause(2000);
        speaks(sender, listener, 64);
        speaks(listener, sender, 64);
        speaks_to_group(64);
        others();
        // Another program is in the default partition.
        const auto begin = trace_.frames.size();
        auto default_link = link_;
        default_link.p_key = default_partition;
        traffic::ask_for_path(stage_, hosts_[neighbour], hosts_[sender], default_link);
        const auto mgid = link_.broadcast_gid();
        const auto record = build::group_record(hosts_[neighbour], link_, mgid, link_.broadcast_mlid, 1);
        auto asked = record;
        asked.set(McMemberRecord::mlid, 0);
        Violation violation{.kind = "join without a P_Key",
                            .claims = {{&rfc4391::pkey_assigned_to_port}},
                            .is_late = true,
                            .is_provable = false};
        for (const auto number : {begin, begin + 1}) {
            Packet packet;
            decode(trace_.frames[number].octets, packet);
            const auto transaction = packet.mad[Mad::transaction_id];
            const auto& sa = scene_.administrator();
            auto one = number == begin ? build::mc_member(hosts_[neighbour], sa, Method::set, transaction, asked,
                                                          McMemberRecord::component::join)
                                       : build::mc_member(sa, hosts_[neighbour], Method::get_resp, transaction, record,
                                                          McMemberRecord::component::join);
            violation.edits.push_back(
                {static_cast<std::uint32_t>(number), one.choose(Bth::psn, packet.bth[Bth::psn]).build()});
        }
        if (i > 1) violations_.push_back(std::move(violation));
    }
    p_keys_are_set(neighbour, link_.p_key);
    pause(1000);
    enters(neighbour, Owed::joins);
    all_find(neighbour);
    goes_on(10);
}

void Life::group_is_made_anew() {
    const auto mgid = group_mgid();
    const auto before = scene_.mlid(mgid);
    reports(false);
    traffic::leave(stage_, hosts_[listener], link_, mgid, join_state::full_member);
    is_told(trap::multicast_group_deleted, mgid);
    stage_.membership(hosts_[sender].gid, mgid) = 0;
    time_passes();
    for (unsigned i = 0; i < 4; ++i) {
        others();
        speaks(sender, neighbour, 64);
        auto to_group = group_view(sender, mgid);
        to_group.mlid = before;
        instead("stale group", {&rfc4392::deleted_group_mlid, &rfc4391::sender_joins_first}, group_packet(to_group));
        pause(2000);
    }
    scene_.set_mlid(mgid, static_cast<std::uint16_t>(before + 0x100));
    listens(true);
    is_told(trap::multicast_group_created, mgid);
    joins_to_send(true);
    former(Field::mlid, [mgid, before](View& v) {
        if (v.mgid == mgid) v.mlid = before;
    });
    goes_on(14);
}

void Life::sender_leaves_and_rejoins() {
    traffic::leave(stage_, hosts_[sender], link_, group_mgid(), join_state::send_only_non_member);
    time_passes();
    for (unsigned i = 0; i < 4; ++i) {
        others();
        speaks(sender, neighbour, 64);
        instead("stale membership", {&rfc4391::sender_joins_first}, group_packet(group_view(sender, group_mgid())));
        pause(2000);
    }
    joins_to_send(true);
    goes_on(12);
}

void Life::listener_leaves_and_rejoins() {
    // Another one stays, so that the group does.
    joins(router, group_mgid(), join_state::full_member);
    pause(1000);
    reports(false);
    duty("no leave", {&rfc4391::leaves_group},
         [&] { traffic::leave(stage_, hosts_[listener], link_, group_mgid(), join_state::full_member); });
    for (unsigned i = 0; i < 14; ++i) {
        speaks(sender, neighbour, 64);
        pause(1000);
        speaks(neighbour, sender, 64);
        if (i % 3 == 0) resolves(neighbour, listener);
        speaks(listener, neighbour, 64);
        others();
        pause(2000);
    }
    listens(true);
    goes_on(12);
}

void Life::connects(std::uint32_t receive_mtu) {
    constexpr std::uint32_t first_qpn = 0x800000;
    for (std::size_t i = 0; i < 2; ++i) {
        ends_[i] = {.id = 0x100 + next_connection_, .qpn = first_qpn + next_connection_, .psn = next_connection_};
        ++next_connection_;
        sent_[i] = taken_[i] = 0;
    }
    receive_mtu_ = receive_mtu;
    const auto of = [&](std::size_t from, std::size_t to) {
        auto one = view(from, to);
        one.own = ends_[from];
        one.remote = ends_[to];
        one.receive_mtu = receive_mtu;
        return one;
    };
    say(Talk::request, of(sender, neighbour), [](const View& v) {
        return with_receive_mtu<CmReq>(build::connection_request(v.from, v.to, v.link, v.own), v.receive_mtu);
    });
    say(Talk::reply, of(neighbour, sender), [](const View& v) {
        return with_receive_mtu<CmRep>(build::connection_reply(v.from, v.to, v.link, v.own, v.remote.id),
                                       v.receive_mtu);
    });
    stage_.send(build::connection_ready(hosts_[sender], hosts_[neighbour], link_, ends_[sender], ends_[neighbour]));
    is_connected_ = true;
}

void Life::speaks_connected() {
    for (const auto& [from, to] : {std::pair{sender, neighbour}, {neighbour, sender}}) {
        auto one = view(from, to);
        one.own = ends_[from];
        one.remote = ends_[to];
        one.own.psn = (one.remote.psn + sent_[from]++) & 0xffffff;
        one.size = receive_mtu_ > 3500 ? 3000 : 1500;
        const auto is_ipv6 = this->is_ipv6();
        say(Talk::over_connection, one, [is_ipv6](const View& v) {
            return build::over_connection(is_ipv6 ? build::echo_request6(v.from, v.to, v.link, 1, v.size)
                                                  : build::echo_request(v.from, v.to, v.link, 1, v.size),
                                          v.remote.qpn, v.own.psn);
        });
        Packet packet;
        decode(trace_.frames.back().octets, packet);
        stage_.send(build::acknowledgement(packet.lrh, packet.bth, one.own.qpn,
                                           {.psn = one.own.psn, .messages = ++taken_[to]}));
    }
}

void Life::disconnects() {
    const auto &one = hosts_[sender], &other = hosts_[neighbour];
    stage_.send(build::disconnection_request(one, other, link_, ends_[sender], ends_[neighbour]));
    stage_.send(build::disconnection_reply(other, one, link_, ends_[neighbour], ends_[sender]));
    is_connected_ = false;
}

void Life::connection_is_made_anew(bool is_restart) {
    disconnects();
    pause(3000);
    const auto before = hosts_[neighbour];
    if (is_restart) {
        traffic::leave_link(stage_, before, link_);
        hosts_[neighbour].qpn = next_qpn_++;
        pause(3000);
        enters(neighbour, Owed::joins);
        all_find(neighbour);
        former(Field::receiver_qpn, [before](View& v) {
            if (v.to.gid == before.gid) v.to.qpn = before.qpn;
        });
        former(Field::sender_qpn, [before](View& v) {
            if (v.from.gid == before.gid) v.from.qpn = before.qpn;
        });
    }
    former(Field::receive_mtu, [](View& v) { v.size = 3000; });
    for (unsigned i = 0; i < 6; ++i) {
        connects(2044);
        goes_on(3);
        disconnects();
        pause(1000);
    }
}

/// All ports have another one, and say so.
void Life::have_prefix(std::uint64_t prefix) {
    for (std::size_t host = 0; host < hosts_.size(); ++host) {
        hosts_[host].gid = Gid::of(prefix, hosts_[host].gid.interface_id());
        port_is_set(host, PortState::active, true);
    }
    pause(1000);
    for (std::size_t host = 0; host < hosts_.size(); ++host) {
        enters(host, Owed::all);
        pause(500);
    }
    uses_groups(true);
    for (std::size_t host = 0; host < hosts_.size(); ++host) all_find(host);
}

void Life::prefix_changes() {
    constexpr std::uint64_t assigned = 0xfec0000000001000, next = 0x100;
    have_prefix(assigned + options_.seed);
    goes_on(12);
    // Once more: the default prefix is a port's beside any other.
    const auto before = hosts_;
    have_prefix(assigned + options_.seed + next);
    former(Field::sender_gid, [before](View& v) {
        for (const auto& host : before)
            if (host.lid == v.from.lid) v.from.gid = host.gid;
    });
    goes_on(12);
}

/// The hosts turn to another group.
void Life::group_is_new_to_router() {
    ++group_;
    listens(false);
    is_told(trap::multicast_group_created, group_mgid());
    duty("router without join", {&rfc4391::router_non_member_join},
         [&] { joins(router, group_mgid(), join_state::non_member); });
    joins_to_send(false);
    goes_on(12);
}

}  // namespace ipoib::recall
