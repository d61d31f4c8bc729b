// SPDX-License-Identifier: GPL-2.0-or-later
// Requests of the subnet administrator, each with its answer; announcements; hosts beyond routers.
#include "traffic-gen/profiles/exchanges.hpp"

namespace ipoib::traffic {
using namespace wire;

void subscribe(Stage& stage, const build::Node& host) {
    const auto& administrator = stage.scene().administrator();
    for (const auto number : {trap::multicast_group_created, trap::multicast_group_deleted}) {
        if (auto* real = stage.administrator()) {
            if (real->is_ours(host))
                (void)stage.ask([&](Administrator& sa, Time time) { return sa.subscribe(time, host, number); });
            continue;
        }
        const auto transaction = stage.transaction();
        stage.send(build::subscription(host, administrator, Method::set, transaction, number));
        stage.send(build::subscription(administrator, host, Method::get_resp, transaction, number));
    }
}

void look_in_vain(Stage& stage, const build::Node& host, const build::Link& link, const Gid& mgid) {
    if (stage.administrator()) return;
    using component = McMemberRecord::component;
    const auto& administrator = stage.scene().administrator();
    const auto transaction = stage.transaction();
    const auto record = build::group_record(host, link, mgid, 0, 0);
    stage.send(build::mc_member(host, administrator, Method::get, transaction, record, component::mgid));
    auto answer = build::mc_member(administrator, host, Method::get_resp, transaction, record, component::mgid);
    stage.send(answer.choose(Mad::status, sa_status::no_records));
}

void ask_for_path(Stage& stage, const build::Node& host, const build::Node& to, const build::Link& link) {
    if (stage.administrator()) return;
    constexpr std::uint8_t ten_gigabit = 3;
    const auto& administrator = stage.scene().administrator();
    const auto transaction = stage.transaction();
    for (const auto method : {Method::get, Method::get_resp}) {
        const bool is_answer = is_response(method);
        const auto &from = is_answer ? administrator : host, &target = is_answer ? host : administrator;
        auto packet = build::path_record(from, target, method, transaction, host, to, link.sl, ten_gigabit);
        stage.send(packet.choose(PathRecord::p_key, link.p_key));
    }
}

void bring_up_senders(Stage& stage) {
    bring_up(stage);
    for (const auto& host : stage.scene().net().hosts) subscribe(stage, host);
}

Bytes<PathRecord> path(const build::Node& from, const build::Node& to, const build::Link& link) {
    constexpr std::uint8_t ten_gigabit = 3, exactly = 2;
    Bytes<PathRecord> record;
    return record.set(PathRecord::sgid, from.gid)
        .set(PathRecord::dgid, to.gid)
        .set(PathRecord::slid, from.lid)
        .set(PathRecord::dlid, to.lid)
        .set(PathRecord::reversible, true)
        .set(PathRecord::p_key, link.p_key)
        .set(PathRecord::sl, link.sl)
        .set(PathRecord::mtu_selector, exactly)
        .set(PathRecord::mtu, link.mtu)
        .set(PathRecord::rate_selector, exactly)
        .set(PathRecord::rate, ten_gigabit)
        .set(PathRecord::lifetime_selector, exactly)
        .set(PathRecord::lifetime, 18);
}

build::Node with_ip_of(build::Node place, const build::Node& who) {
    place.ipv4 = who.ipv4;
    place.ipv6 = who.ipv6;
    return place;
}

std::uint64_t opaque_identifier(std::uint64_t secret) noexcept { return (secret + 1) * 0x9e3779b97f4a7c15u; }

build::Node child_of(const build::Node& host, const Scene& scene, std::size_t number, std::size_t net) {
    auto child = scene.other(number, net);
    child.lid = host.lid;
    child.gid = host.gid;
    child.ipv6 = Gid::of(host.ipv6.prefix(), opaque_identifier(child.qpn));
    return child;
}

namespace {
constexpr std::uint64_t documentation = 0x20010db8'00000000;  // RFC 3849
}  // namespace

Net with_global_addresses(Net net, std::size_t number) {
    for (auto& host : net.hosts) host.ipv6 = Gid::of(documentation | number, host.ipv6.interface_id());
    return net;
}

build::Node far_host(std::size_t number) {
    constexpr std::uint32_t test_net = 0xc6336401;  // 198.51.100.1: RFC 5737
    constexpr std::uint64_t far = 0xffff;
    build::Node node;
    node.ipv4 = test_net + static_cast<std::uint32_t>(number % 250);
    node.ipv6 = Gid::of(documentation | far, number + 1);
    return node;
}

namespace {

constexpr Gid all_nodes = Gid::of(std::uint64_t{0xff02} << 48, 1);

Gid all_nodes_of(const build::Link& link) { return mgid_for_ipv6(all_nodes, link.p_key, link.scope); }

}  // namespace

void join_all_nodes(Stage& stage, const build::Node& host, const build::Link& link) {
    join(stage, host, link, all_nodes_of(link), join_state::full_member);
}

void leave_link(Stage& stage, const build::Node& host, const build::Link& link) {
    const auto broadcast = link.broadcast_gid();
    const auto is_of_link = [&](const Gid& mgid) {
        return has_ipoib_signature(mgid) && mgid_of(mgid)[Mgid::p_key] == link.p_key &&
               mgid_of(mgid)[Mgid::scope] == link.scope;
    };
    for (const auto& [mgid, states] : stage.memberships_of(host.gid))
        if (is_of_link(mgid) && mgid != broadcast) leave(stage, host, link, mgid, states);
    leave(stage, host, link, broadcast, join_state::full_member);
}

void announce4(Stage& stage, const build::Node& node, const build::Link& link) {
    if (stage.any(2) == 0) return stage.send(build::arp_request(node, node.ipv4, link));
    auto packet = build::broadcast(node, link);
    stage.send(build::append_headers<Arp, ArpAddresses>(packet, build::arp_reply(node, node, link)));
}

void announce6(Stage& stage, const build::Node& node, const build::Link& link) {
    constexpr std::uint32_t override_only = 0x20000000;
    const auto mgid = all_nodes_of(link);
    auto packet = build::multicast(node, mgid, stage.scene().mlid(mgid), link);
    build::append_headers<Ipv6, Icmpv6, NdTarget, LinkAddressOption>(packet,
                                                                     build::neighbour_advertisement(node, node, link));
    stage.send(packet.choose(Ipv6::destination, all_nodes).choose(Icmpv6::body, override_only));
}

build::Link spanning(Scene& scene) {
    constexpr std::uint8_t site_local = 5, far = 64;
    auto link = scene.net().link;
    link.scope = site_local;
    link.hop_limit = far;
    link.broadcast_mlid = scene.mlid(link.broadcast_gid());
    return link;
}

build::Node behind_router(const build::Node& like, std::uint16_t router_lid, std::uint64_t subnet) {
    constexpr std::uint64_t site_prefix = 0xfec0000000000000, other_guid = 0x100000;
    constexpr std::uint32_t other_address = 0x4000;
    auto node = like;
    node.lid = router_lid;
    node.gid = Gid::of(site_prefix | subnet, like.gid.interface_id() + subnet * other_guid);
    node.ipv4 = like.ipv4 + static_cast<std::uint32_t>(subnet + 1) * other_address;
    node.ipv6 = Gid::of(like.ipv6.prefix(), like.ipv6.interface_id() + subnet * other_guid);
    return node;
}

}  // namespace ipoib::traffic
