// SPDX-License-Identifier: GPL-2.0-or-later
#include "protocol/build/connection.hpp"
#include "protocol/wire/node_record.hpp"
#include "protocol/wire/service_record.hpp"
#include "traffic-gen/profiles/exchanges.hpp"

#include <algorithm>
#include <array>

namespace ipoib::traffic {
using namespace wire;

namespace {

using C = McMemberRecord::component;

/// Programs of other kinds at the ports of a link's hosts.
class Programs {
public:
    Programs(Stage& stage, std::size_t number) : stage_(stage), net_(stage.scene().nets()[number]) {}

    /// A tunnel over a group of its own, with a header that looks like ours.
    void tunnels_to_group() {
        const auto [from, to] = two();
        const auto mgid = own_group();
        for (const auto* host : {&from, &to}) joins(*host, mgid, join_state::full_member);
        auto packet = build::multicast(from, mgid, mlid(mgid), own_link());
        stage_.send(with_tunnel(packet, from, to));
    }
    /// The same between queue pairs of its own.
    void tunnels() {
        const auto [from, to] = two();
        auto packet =
            stage_.any(2) == 0 ? build::unicast(from, to, own_link()) : build::unicast_with_grh(from, to, own_link());
        stage_.send(with_tunnel(packet, from, to));
    }
    /// The same over connections, reliable and unreliable ones.
    void tunnels_connected() {
        const auto [from, to] = two();
        const bool is_reliable = stage_.any(2) == 0;
        auto packet = build::unicast(from, to, own_link());
        auto message = build::over_connection(with_tunnel(packet, from, to), at(to).qpn + connected_qpns, psn_++);
        if (is_reliable) {
            stage_.send(message);
            stage_.send(build::acknowledgement(message.get<Lrh>(), message.get<Bth>(), at(from).qpn + connected_qpns,
                                               {.psn = psn_ - 1, .messages = psn_}));
        } else {
            stage_.send(message.choose(Bth::opcode, Opcode::uc_send_only).choose(Bth::ack, false));
        }
    }
    /// RDMA CM finds the broadcast group's parameters by joining it once more, beside the interface.
    void joins_broadcast_group() {
        const auto& host = any_host();
        const auto mgid = net_.link.broadcast_gid();
        const auto state = stage_.any(2) == 0 ? join_state::full_member : join_state::send_only_non_member;
        const auto granted = build::group_record(host, net_.link, mgid, net_.link.broadcast_mlid, state);
        auto asked = granted;
        change(host, Method::set, asked.set(McMemberRecord::mlid, 0),
               C::join | C::p_key | C::q_key | C::sl | C::flow_label | C::traffic_class, granted);
        if (state == join_state::send_only_non_member) change(host, Method::del, granted, C::join, granted);
    }
    /// Its own group, under a signature of its own, for a listener and a sender.
    void joins_own_group() {
        const auto [from, to] = two();
        const auto mgid = own_group();
        joins(from, mgid, join_state::full_member);
        joins(to, mgid, stage_.any(2) == 0 ? join_state::non_member : join_state::send_only_non_member);
    }
    /// Tools that look around: all groups, nodes, services, paths for a service.
    void looks_around() {
        const auto [from, to] = two();
        if (stage_.any(2) == 0) all_groups(from);
        services(from);
        const auto levels = 15u;
        const auto answer = path(from, to, net_.link)
                                .set(PathRecord::service_id, rdma_cm | stage_.any(0xffff))
                                .set(PathRecord::sl, static_cast<std::uint8_t>(stage_.any(levels)));
        using P = PathRecord::component;
        ask(stage_, from,
            Question<PathRecord>{.method = Method::get,
                                 .attribute = attribute::path_record,
                                 .asked = answer,
                                 .components = P::service_id | P::sgid | P::dgid | P::p_key},
            std::span{&answer, 1});
    }
    void connects();
    /// IPoIB is not disturbed by all that.
    void speak() {
        const auto [from, to] = two();
        const Net pair{net_.link, {from, to}};
        resolve(stage_, pair, 0, 1);
        const auto size = stage_.size();
        stage_.send(build::echo_request(from, to, net_.link, 1, size));
        stage_.send(build::echo_reply(to, from, net_.link, 1, size));
    }

private:
    static constexpr std::uint64_t rdma_cm = 0x1060000;  ///< Service-IDs of its TCP ports
    static constexpr std::uint32_t own_qpns = 0x500000, connected_qpns = 0x100000;

    struct Two {
        build::Node from, to;
    };
    [[nodiscard]] const build::Node& any_host() { return net_.host(stage_.any(net_.hosts.size())); }
    /// A program's own queue pairs at two ports.
    [[nodiscard]] build::Node at(const build::Node& host) {
        auto node = host;
        node.qpn += own_qpns;
        return node;
    }
    [[nodiscard]] Two two() {
        const auto first = stage_.any(net_.hosts.size()), second = first + 1 + stage_.any(net_.hosts.size() - 1);
        return {net_.host(first), net_.host(second)};
    }
    /// What it uses in the place of a link: another Q_Key, SL and limit.
    [[nodiscard]] build::Link own_link() const {
        constexpr std::uint32_t of_rdma_cm = 0x01234567;
        auto link = net_.link;
        link.q_key = of_rdma_cm;
        link.sl = static_cast<std::uint8_t>(link.sl ^ 1);
        link.traffic_class = link.hop_limit = 0;
        link.flow_label = 0;
        return link;
    }
    /// Of RDMA CM, of a tunnel of Ethernet, and of a storage protocol: none has a signature of IPoIB.
    [[nodiscard]] Gid own_group() {
        constexpr std::array<std::uint64_t, 3> signatures{0x4001, 0xa01b, 0xaffe};
        const auto upper = std::uint64_t{0xff12} << 48 | signatures[stage_.any(signatures.size())] << 32 |
                           std::uint64_t{net_.link.p_key} << 16;
        return Gid::of(upper, 1 + stage_.any(stage_.scene().groups()));
    }
    [[nodiscard]] std::uint16_t mlid(const Gid& mgid) { return stage_.scene().mlid(mgid); }
    void change(const build::Node& host, Method method, const Bytes<McMemberRecord>& asked, std::uint64_t components,
                const Bytes<McMemberRecord>& granted) {
        ask(stage_, host,
            Question<McMemberRecord>{
                .method = method, .attribute = attribute::mc_member_record, .asked = asked, .components = components},
            std::span{&granted, 1});
    }
    void joins(const build::Node& host, const Gid& mgid, std::uint8_t state) {
        auto& states = stage_.membership(host.gid, mgid);
        if ((states & state) == state) return;
        states |= state;
        const auto granted = build::group_record(host, own_link(), mgid, mlid(mgid), state);
        auto asked = granted;
        change(host, Method::set, asked.set(McMemberRecord::mlid, 0),
               C::create | C::mtu_selector | C::mtu | C::rate_selector | C::rate | C::hop_limit, granted);
    }
    void all_groups(const build::Node& host) {
        const auto own = own_group();
        const std::array answers{
            build::group_record({}, net_.link, net_.link.broadcast_gid(), net_.link.broadcast_mlid, 0),
            build::group_record({}, own_link(), own, mlid(own), 0)};
        ask(stage_, host,
            Question<McMemberRecord>{.method = Method::get_table, .attribute = attribute::mc_member_record},
            std::span<const Bytes<McMemberRecord>>{answers});
    }
    void services(const build::Node& host) {
        const auto service = Bytes<ServiceRecord>{}
                                 .set(ServiceRecord::service_id, rdma_cm | stage_.any(0xffff))
                                 .set(ServiceRecord::service_gid, host.gid)
                                 .set(ServiceRecord::service_p_key, net_.link.p_key);
        ask(stage_, host,
            Question<ServiceRecord>{.method = Method::set, .attribute = attribute::service_record, .asked = service},
            std::span{&service, 1});
    }
    build::PacketBuilder with_tunnel(build::PacketBuilder& packet, const build::Node& from, const build::Node& to);

    Stage& stage_;
    Net net_;
    std::uint32_t psn_ = 0, connections_ = 0;
};

/// Four octets that look like an encapsulation header, or a count, and a packet of another network.
build::PacketBuilder Programs::with_tunnel(build::PacketBuilder& packet, const build::Node& from,
                                           const build::Node& to) {
    packet.remove<Encap>().choose(Deth::src_qp, at(from).qpn);
    if (!packet.get<Grh>() || !packet.get<Grh>()[Grh::dgid].is_multicast()) packet.choose(Bth::dest_qp, at(to).qpn);
    const auto count = static_cast<std::uint8_t>(stage_.any(2) == 0 ? 0 : 1 + stage_.any(200));
    constexpr std::uint32_t elsewhere = 0xc0a80000;  // 192.168.0.0
    auto inner_from = from, inner_to = to;
    if (stage_.any(2) == 0) inner_from.ipv4 = elsewhere + 1, inner_to.ipv4 = elsewhere + 2;
    switch (stage_.any(3)) {
        case 0: {
            packet.add(std::array<std::uint8_t, 4>{0x08, 0x00, 0, count});
            build::append_headers<Ipv4, Udp>(packet, build::udp(inner_from, inner_to, net_.link, std::size_t{0}));
            return packet.add(build::pattern(stage_.size()));
        }
        case 1: {
            packet.add(std::array<std::uint8_t, 4>{0x86, 0xdd, 0, count});
            build::append_headers<Ipv6, Icmpv6>(packet, build::echo_request6(from, to, net_.link, 1, 0));
            return packet.add(build::pattern(stage_.size()));
        }
        default: {
            // ARP of an Ethernet that is carried over InfiniBand.
            packet.add(std::array<std::uint8_t, 4>{0x08, 0x06, 0, count});
            return packet.add(std::array<std::uint8_t, 28>{0,   1,   8, 0, 6, 4, 0, 1, 2, 0, 0,   0,   0, 1,
                                                           192, 168, 0, 1, 0, 0, 0, 0, 0, 0, 192, 168, 0, 2});
        }
    }
}

/// RDMA CM: its Service-IDs, and its private data, where IPoIB has its own. A REQ is accepted, or rejected.
void Programs::connects() {
    constexpr std::uint16_t invalid_service_id = 8, consumer_reject = 28;
    constexpr std::uint32_t first_id = 0x40000000;
    const auto [from, to] = two();
    const build::ConnectionEnd own{.id = first_id + 2 * connections_, .qpn = at(from).qpn};
    const build::ConnectionEnd remote{.id = first_id + 2 * connections_++ + 1, .qpn = at(to).qpn};
    const auto port = 1024 + stage_.any(60000);
    OctetArray<92> addresses{};
    addresses[1] = 0x40;
    write_bits(addresses.data() + 2, octet(0), 16, port);
    write_bits(addresses.data() + 16, octet(0), 32, from.ipv4);
    write_bits(addresses.data() + 32, octet(0), 32, to.ipv4);
    stage_.send(build::connection_request(from, to, net_.link, own)
                    .choose(CmReq::service_id, rdma_cm | port)
                    .choose(CmReq::private_data, addresses));
    OctetArray<196> own_words{};
    OctetArray<148> reasons{};
    for (auto& octet : own_words) octet = static_cast<std::uint8_t>(stage_.any(256));
    for (auto& octet : reasons) octet = static_cast<std::uint8_t>(stage_.any(256));
    const auto answer = stage_.any(3);
    if (answer != 0) {
        const auto reason = answer == 1 ? invalid_service_id : consumer_reject;
        return stage_.send(
            build::connection_rejection(to, from, net_.link, own.id, reason).choose(CmRej::private_data, reasons));
    }
    stage_.send(build::connection_reply(to, from, net_.link, remote, own.id).choose(CmRep::private_data, own_words));
    stage_.send(build::connection_ready(from, to, net_.link, own, remote).choose(CmRtu::private_data, {}));
    auto packet = build::unicast(from, to, own_link());
    stage_.send(build::over_connection(with_tunnel(packet, from, to), remote.qpn, psn_++));
    stage_.send(build::disconnection_request(from, to, net_.link, own, remote).choose(CmDreq::private_data, {}));
    stage_.send(build::disconnection_reply(to, from, net_.link, remote, own).choose(CmDrep::private_data, {}));
}

}  // namespace

/// RFC 4391 is about IPoIB's own packets: those of other programs at the same ports are not its matter.
const Profile foreign_programs{
    .name = "foreign-programs",
    .what = "other programs at the ports: tunnels that look like IPoIB, RDMA CM, queries and groups of their own",
    .impact = Impact::fabric,
    .no_fabric = "there are no programs behind its queue pairs",
    .prepare = bring_up_senders,
    .play =
        [](Stage& stage) {
            std::vector<Programs> links;
            for (std::size_t i = 0; i < stage.scene().nets().size(); ++i) links.emplace_back(stage, i);
            constexpr std::array what{&Programs::tunnels_to_group,      &Programs::tunnels,
                                      &Programs::tunnels_connected,     &Programs::connects,
                                      &Programs::joins_broadcast_group, &Programs::joins_own_group,
                                      &Programs::looks_around,          &Programs::speak};
            while (stage.goes_on()) (links[stage.any(links.size())].*what[stage.any(what.size())])();
        },
};

}  // namespace ipoib::traffic
