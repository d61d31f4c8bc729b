// SPDX-License-Identifier: GPL-2.0-or-later
// For tests: a day in the life of a node.
#include "stack/policy_day.hpp"
#include "protocol/build/connection.hpp"
#include "stack/octets.hpp"
#include "stack/reassembly.hpp"

namespace ipoib::stack::test {
namespace {

using namespace wire;
using build::PacketBuilder;

/// A link whose SA lets ports in that cannot carry its MTU: what the node itself checks shows.
fabric::SubnetConfig lax() {
    fabric::SubnetConfig config;
    config.sa.behaviour.checks_mtu = false;
    return config;
}

class Day {
public:
    explicit Day(const Policies& policies)
        : world_("controlled", lax()), node_(world_.add(policies)), peer_(world_.running()) {
        world_.keeps_frames = true;
        begin(policies);
        if (!node_.ib0().is_running()) return;
        unicast();
        strange_packets();
        multicast();
        membership();
        node_.ib0().dhcp().start();
        world_.settle();
        node_.ib0().dhcp().stop();
        node_.ib0().dhcp_server().start();
        peer_.ib0().dhcp().start();
        world_.settle();
        peer_.ib0().dhcp().stop();
        late();
        changes();
        connections();
        end();
    }
    [[nodiscard]] std::string text() {
        std::string all;
        for (const auto& one : world_.sent) {
            const auto slid = one.packet.lrh[Lrh::slid];
            if (one.role != fabric::NodeRole::other || slid == peer_.hca.facts().lid) continue;
            // SMPs answer to the manager.
            if (one.packet.bth && one.packet.bth[Bth::dest_qp] == 0) continue;
            all += hex_octets(one.frame.octets(), one.frame.octets().size()) + '\n';
        }
        for (const auto& line : node_.node.log().lines()) all += line + '\n';
        return all + told_;
    }

private:
    void begin(const Policies& policies) {
        world_.subnet.sa().faults.refuse_joins = sa_status::denied;
        REQUIRE(node_.ib0().up().empty());
        world_.loop.run_for(500ms);
        world_.subnet.sa().faults.refuse_joins = 0;
        world_.loop.run_for(5s);
        // A partition without a broadcast group.
        constexpr std::uint16_t another = 0x8456;
        REQUIRE(world_.subnet.add_p_key(node_.gid().interface_id(), another));
        world_.settle();
        if (auto* child = node_.node.create_child(another)) static_cast<void>(child->up());
        world_.loop.run_for(3s);
        for (const auto& name : node_.node.names())
            if (name != "ib0") static_cast<void>(node_.node.delete_child(name));
        auto& weak = world_.add(policies, {.mtu = 3});
        REQUIRE(weak.ib0().up().empty());
        world_.loop.run_for(100ms);
        weak.ib0().down();
        world_.settle();
    }
    void ping(Host& from, const IpAddress& to, std::size_t size = 56) {
        static_cast<void>(from.ib0().echo().ping(to, size, 1s, [](bool) {}));
        world_.loop.run_for(1100ms);
    }
    void unicast() {
        for (const auto& to : {ip("10.1.0.2"), peer6()}) {
            ping(node_, to);
            ping(node_, to, 4000);
        }
        for (const auto& to : {ip("10.1.0.1"), node6()}) ping(peer_, to, 1990);
        for (const auto* nobody : {"10.1.0.77", "fe80::77"}) ping(node_, ip(nobody));
        peer_.ib0().neighbours().flush();
        for (const auto& to : {ip("10.1.0.1"), node6()}) ping(peer_, to);
    }
    [[nodiscard]] IpAddress peer6() { return peer_.ib0().addresses().back().address; }
    [[nodiscard]] IpAddress node6() { return node_.ib0().addresses().back().address; }
    [[nodiscard]] build::Node as_peer(std::uint32_t ipv4 = 0x0a010002) {
        auto node = peer_.ib0().self();
        node.ipv4 = ipv4;
        return node;
    }
    [[nodiscard]] build::Node as_node() {
        auto node = node_.ib0().self();
        node.ipv4 = 0x0a010001;
        return node;
    }
    void inject(const PacketBuilder& packet) {
        peer_.hca.send(packet.build());
        world_.settle();
    }
    /// To the node alone, with a GRH.
    PacketBuilder arp_request_to_it() {
        auto packet = build::unicast_with_grh(as_peer(), as_node(), peer_.ib0().link());
        packet.add(Bytes<Arp>{}
                       .set(Arp::hardware, Arp::infiniband)
                       .set(Arp::protocol, 0x0800)
                       .set(Arp::hardware_length, LinkAddress::size)
                       .set(Arp::protocol_length, 4)
                       .set(Arp::operation, Arp::request));
        packet.add(Bytes<ArpAddresses>{}
                       .set(ArpAddresses::sha_qpn, peer_.ib0().ud_qpn())
                       .set(ArpAddresses::sha_gid, peer_.gid())
                       .set(ArpAddresses::spa, 0x0a010002)
                       .set(ArpAddresses::tpa, 0x0a010001));
        return packet;
    }
    void strange_packets() {
        const build::Link link = peer_.ib0().link();
        auto asks = [&](std::uint32_t from) { return build::arp_request(as_peer(from), 0x0a010001, link); };
        inject(asks(0x0a010002).set(Encap::reserved, 0xffff));
        inject(asks(0x0a010032).set(ArpAddresses::sha_flags, 0x3f));
        inject(asks(0x0a010033).set(Deth::src_qp, 0x777));
        ping(node_, ip("10.1.0.51"));
        inject(build::echo_request(as_peer(), as_node(), link, 1).set(Encap::type, EtherType{0x1234}));
        inject(arp_request_to_it());
        ping(peer_, ip("10.1.0.1"));
        strange_packets6();
        overlaps();
        // A peer of another IB subnet, behind a router that stands where the peer does.
        const auto remote = Gid::of(std::uint64_t{0xfec0} << 48, peer_.gid().interface_id());
        world_.subnet.sa().set_route(remote, as_peer().lid);
        inject(asks(0x0a010034).set(ArpAddresses::sha_gid, remote));
        ping(node_, ip("10.1.0.52"));
        inject(solicitation("fe80::34").set(LinkAddressOption::gid, remote));
        ping(node_, ip("fe80::34"));
    }
    /// A question for the node's IPv6 address, straight to it, that says to come from the peer at `from`.
    [[nodiscard]] PacketBuilder solicitation(std::string_view from, bool has_grh = false) {
        const build::Link link = peer_.ib0().link();
        const auto target = node6().octets;
        auto packet =
            has_grh ? build::unicast_with_grh(as_peer(), as_node(), link) : build::unicast(as_peer(), as_node(), link);
        return packet
            .add(Bytes<Ipv6>{}
                     .set(Ipv6::source, ip(from).octets)
                     .set(Ipv6::destination, target)
                     .set(Ipv6::hop_limit, 255))
            .add(Bytes<Icmpv6>{}.set(Icmpv6::type, Icmpv6Type::neighbour_solicitation))
            .add(Bytes<NdTarget>{}.set(NdTarget::target, target))
            .add(Bytes<LinkAddressOption>{}
                     .set(LinkAddressOption::type, LinkAddressOption::source)
                     .set(LinkAddressOption::length, LinkAddressOption::size / 8)
                     .set(LinkAddressOption::qpn, peer_.ib0().ud_qpn())
                     .set(LinkAddressOption::gid, peer_.gid()));
    }
    void strange_packets6() {
        inject(solicitation("fe80::31").set(Encap::reserved, 0xffff));
        inject(solicitation("fe80::32").set(LinkAddressOption::flags, 0x3f));
        inject(solicitation("fe80::33").set(Deth::src_qp, 0x777));
        ping(node_, ip("fe80::33"));
        inject(solicitation("fe80::35").set(Encap::type, EtherType{0x1234}));
        inject(solicitation("fe80::36", true));
    }
    /// Two fragments of a datagram that have eight octets in common, in IPv4 and in IPv6.
    void overlaps() {
        const build::Link link = peer_.ib0().link();
        constexpr std::uint8_t more_fragments = 1;
        const std::vector<std::uint8_t> piece(16);
        for (const auto offset : {std::uint16_t{0}, std::uint16_t{1}}) {
            Bytes<Ipv4> header;
            header.set(Ipv4::identification, 5)
                .set(Ipv4::flags, more_fragments)
                .set(Ipv4::fragment_offset, offset)
                .set(Ipv4::protocol, IpProtocol::udp)
                .set(Ipv4::source, 0x0a010002)
                .set(Ipv4::destination, 0x0a010001);
            inject(build::unicast(as_peer(), as_node(), link).add(header).add(piece));
            inject(build::unicast(as_peer(), as_node(), link)
                       .add(Bytes<Ipv6>{}
                                .set(Ipv6::next_header, IpProtocol::fragment)
                                .set(Ipv6::source, peer6().octets)
                                .set(Ipv6::destination, node6().octets))
                       .add(fragment_of(offset, piece)));
        }
        for (const auto& to : {ip("10.1.0.1"), node6()}) ping(peer_, to);
    }
    [[nodiscard]] static std::vector<std::uint8_t> fragment_of(std::uint16_t offset, Octets piece) {
        auto octets = octets_of(Bytes<FragmentHeader>{}
                                    .set(FragmentHeader::next_header, IpProtocol::udp)
                                    .set(FragmentHeader::offset, offset)
                                    .set(FragmentHeader::more, true)
                                    .set(FragmentHeader::identification, 5));
        append(octets, piece);
        return octets;
    }
    void send(std::string_view to) {
        static_cast<void>(node_.ib0().sockets().send(ip(to), 9, std::vector<std::uint8_t>(30, 1), 3));
        world_.settle();
    }
    void multicast() {
        for (const auto* to : {"255.255.255.255", "10.1.0.255", "239.1.1.1", "224.0.0.77", "ff05::77", "ff12::77"})
            send(to);
        fabric::Partition other = world_.subnet_link();
        other.traffic_class = 7;
        other.flow_label = 8;
        other.hop_limit = 9;
        for (const auto* group : {"239.1.1.9", "ff15::1:9"}) {
            world_.subnet.sa().create_group(world_.mgid(ip(group)), other);
            send(group);
        }
        for (const auto* routers : {"224.0.0.2", "ff02::2"}) REQUIRE(world_.join(peer_, ip(routers)).empty());
        for (const auto* to : {"239.1.1.1", "239.1.1.1", "224.0.0.77", "ff05::78", "ff15::1:1", "ff12::77"}) send(to);
        for (const auto& [first, second] : {std::pair{"239.1.1.1", "239.1.1.2"}, std::pair{"ff15::1:1", "ff15::1:2"}}) {
            REQUIRE(world_.join(peer_, ip(first)).empty());
            send(first);
            send(first);
            REQUIRE(peer_.ib0().membership().leave(ip(first)));
            world_.settle();
            send(first);
            REQUIRE(world_.join(peer_, ip(second)).empty());
            send(second);
        }
        world_.loop.run_for(60s);
    }
    void membership() {
        const auto join = [&](const char* group) {
            node_.ib0().membership().join(ip(group), [this](const std::string& reason) { told_ += reason + '\n'; });
            world_.settle();
        };
        join("239.2.2.2");
        join("ff15::2:2");
        join("ff12::2:2");  // the same MGID
        static_cast<void>(node_.ib0().membership().leave(ip("ff12::2:2")));
        for (const auto* group : {"239.2.2.2", "ff15::2:2"})
            static_cast<void>(node_.ib0().membership().leave(ip(group)));
        world_.settle();
        world_.subnet.sa().faults.refuse_joins = sa_status::no_resources;
        for (const auto* group : {"239.2.2.3", "ff15::2:3"}) join(group);
        world_.subnet.sa().faults.refuse_joins = 0;
        failures();
        for (const auto* group : {"239.3.3.3", "ff15::3:3"}) REQUIRE(world_.join(peer_, ip(group)).empty());
        node_.ib0().router().enable();
        world_.settle();
        for (const auto* group : {"239.3.3.4", "ff15::3:4"}) REQUIRE(world_.join(peer_, ip(group)).empty());
        node_.ib0().router().disable();
        world_.settle();
        for (const auto* group : {"239.2.2.4", "ff15::2:4"}) programs(group);
        mtus();
        newer_address();
    }
    /// Of two programs in a group that was sent to before one listens; the other one leaves.
    void programs(std::string_view name) {
        auto& node = node_.ib0();
        const auto group = ip(name);
        const auto says = [this](const std::string& reason) { told_ += reason + '\n'; };
        send(name);
        REQUIRE(node.sockets().listen(group, 9).empty());
        node.membership().join(group, says, Membership::User::socket);
        node.membership().join(group, says);
        world_.settle();
        static_cast<void>(node.membership().leave(group));
        world_.settle();
        static_cast<void>(peer_.ib0().sockets().send(group, 9, std::vector<std::uint8_t>(30, 1), 3));
        world_.settle();
        for (const auto& one : node.sockets().take())
            told_ += wire::text(one.from) + ' ' + std::to_string(one.payload.size()) + '\n';
    }
    void mtus() {
        auto& node = node_.ib0();
        for (const std::size_t mtu : {std::size_t{4000}, std::size_t{1500}, node.mtu()}) {
            told_ += node.set_mtu(mtu) + '\n';
            for (const auto& to : {ip("10.1.0.2"), peer6()}) ping(node_, to, 1600);
        }
    }
    void newer_address() {
        const auto tell = [this] {
            for (const auto& [address, link_address] : node_.ib0().neighbours().list())
                told_ += wire::text(address) + ' ' + ipoib::stack::text(link_address) + '\n';
        };
        tell();
        inject(build::arp_request(as_peer(), 0x0a010001, peer_.ib0().link()).set(ArpAddresses::sha_qpn, 0x777));
        inject(solicitation(wire::text(peer6())).set(LinkAddressOption::qpn, 0x777));
        for (const auto& to : {ip("10.1.0.2"), peer6()}) ping(node_, to);
        tell();
        inject(build::arp_request(as_peer(), 0x0a010001, peer_.ib0().link()));
        inject(solicitation(wire::text(peer6())));
    }
    void failures() {
        auto& faults = world_.subnet.sa().faults;
        for (const auto* group : {"239.2.2.4", "ff15::2:4"}) {
            REQUIRE(world_.join(peer_, ip(group)).empty());
            faults.refuse_joins = sa_status::no_resources;
            send(group);
            faults = {};
            world_.loop.run_for(2s);
            send(group);
        }
        faults.is_silent = true;
        for (const auto* group : {"239.2.2.6", "ff15::2:6"})
            node_.ib0().membership().join(ip(group), [](const std::string&) {});
        world_.loop.run_for(10s);
        faults = {};
        world_.loop.run_for(1s);
    }
    void late() {
        for (const auto& to : {ip("10.1.0.2"), peer6()}) ping(node_, to);
        world_.loop.run_for(40s);
        for (const auto& to : {ip("10.1.0.2"), peer6()}) ping(node_, to);
        node_.ib0().down();
        world_.settle();
        REQUIRE(node_.ib0().up().empty());
        world_.loop.run_for(1s);
        for (const auto& to : {peer6(), ip("10.1.0.2")}) ping(node_, to);
        world_.subnet.start_manager(false);
        world_.loop.run_for(5s);
        auto other = world_.subnet.scenario().link;
        other.flow_label ^= 1;
        const auto broadcast = other.broadcast_gid();
        world_.subnet.sa().delete_group(broadcast);
        REQUIRE(world_.subnet.sa().create_group(broadcast, other));
        world_.subnet.start_manager(true);
        world_.loop.run_for(5s);
        send("255.255.255.255");
    }
    /// What changes while the node is in groups, and sends to one.
    void changes() {
        auto& sa = world_.subnet.sa();
        for (const auto* sent_to : {"239.4.4.5", "ff15::4:5"}) REQUIRE(world_.join(peer_, ip(sent_to)).empty());
        const auto talk = [&] {
            for (const auto* to : {"239.4.4.5", "ff15::4:5"}) send(to);
            for (const auto& to : {ip("10.1.0.2"), peer6()}) ping(node_, to);
        };
        for (const auto* own : {"239.4.4.4", "ff15::4:4"}) {
            node_.ib0().membership().join(ip(own), [this](const std::string& reason) { told_ += reason + '\n'; });
            world_.settle();
            sa.delete_group(world_.mgid(ip(own)));
            world_.loop.run_for(1s);
        }
        talk();
        for (const auto* own : {"239.4.4.4", "ff15::4:4"}) {
            sa.faults.refuse_joins = sa_status::no_resources;
            sa.faults.refuse_only = world_.mgid(ip(own));
            world_.subnet.start_manager(false);
            world_.loop.run_for(2s);
            const auto other = ip(own == std::string_view{"239.4.4.4"} ? "239.4.4.6" : "ff15::4:6");
            node_.ib0().membership().join(other, [this](const std::string& reason) { told_ += reason + '\n'; });
            world_.loop.run_for(1s);
            static_cast<void>(node_.ib0().membership().leave(other));
            sa.faults = {};
            world_.loop.run_for(5s);
            talk();
        }
        const auto guid = node_.gid().interface_id();
        const auto p_key = world_.subnet_link().p_key;
        for (const bool is_there : {false, true}) {
            REQUIRE(world_.subnet.set_link(guid, is_there));
            world_.loop.run_for(2s);
        }
        talk();
        REQUIRE(world_.subnet.remove_p_key(guid, p_key));
        world_.loop.run_for(1s);
        REQUIRE(world_.subnet.add_p_key(guid, p_key));
        world_.loop.run_for(2s);
        talk();
        auto narrow = world_.subnet_link();
        narrow.mtu = 3;
        sa.delete_group(narrow.broadcast_gid());
        REQUIRE(sa.create_group(narrow.broadcast_gid(), narrow));
        world_.subnet.start_manager(true);
        world_.loop.run_for(5s);
        for (const auto& to : {ip("10.1.0.2"), peer6()}) ping(node_, to, 1500);
        peers();
        bursts();
        refusals();
        port_changes();
        late_answers();
        other_address();
        interfaces();
    }
    /// More than can wait for a group, what comes damaged, another manager.
    void bursts() {
        auto& faults = world_.subnet.sa().faults;
        for (const auto* to : {"239.4.4.9", "ff15::4:9"}) {
            REQUIRE(world_.join(peer_, ip(to)).empty());
            faults.is_silent = true;
            for (int i = 0; i < 20; ++i) send(to);
            faults = {};
            world_.loop.run_for(5s);
            send(to);
            world_.settle();
        }
        const build::Link link = peer_.ib0().link();
        inject(build::echo_request(as_peer(), as_node(), link, 1).set(Ipv4::checksum, 0x1234));
        inject(solicitation("fe80::55").set(Icmpv6::checksum, 0x1234));
        // To an address of the node alone, by way of the broadcast group.
        const auto mlid = link.broadcast_mlid;
        const auto everyone = link.broadcast_gid();
        auto to_group = build::udp_to_group(as_peer(), 0xe0000001, mlid, link, 20);
        inject(to_group.set(Grh::dgid, everyone).set(Ipv4::destination, 0x0a010001));
        auto to_group6 = build::udp6_to_group(as_peer(), ip("ff02::1").octets, mlid, link, 20);
        inject(to_group6.set(Grh::dgid, everyone)
                   .set(Ipv6::source, peer6().octets)
                   .set(Ipv6::destination, node6().octets));
        world_.settle();
        world_.subnet.let_another_take_over();
        world_.loop.run_for(8s);
        for (const auto& to : {ip("10.1.0.2"), peer6()}) ping(node_, to);
    }
    /// A sender's join that is refused, a leave that is not answered.
    void refusals() {
        auto& faults = world_.subnet.sa().faults;
        for (const auto* to : {"239.4.4.7", "ff15::4:7"}) {
            REQUIRE(world_.join(peer_, ip(to)).empty());
            faults.refuse_joins = sa_status::no_resources;
            faults.refuse_only = world_.mgid(ip(to));
            send(to);
            faults = {};
            world_.loop.run_for(3s);
            send(to);
        }
        for (const auto* own : {"239.4.4.8", "ff15::4:8"}) {
            node_.ib0().membership().join(ip(own), [](const std::string&) {});
            world_.settle();
            faults.is_silent = true;
            static_cast<void>(node_.ib0().membership().leave(ip(own)));
            world_.loop.run_for(10s);
            faults = {};
        }
        world_.loop.run_for(40s);
    }
    /// Another LID, other places in the table of P_Keys, another subnet prefix.
    void port_changes() {
        const auto guid = node_.gid().interface_id();
        static_cast<void>(node_.ib0().set_mtu(600));
        REQUIRE(world_.subnet.move_lid(guid));
        world_.loop.run_for(5s);
        for (const auto& to : {ip("10.1.0.2"), peer6()}) ping(node_, to, 800);
        static_cast<void>(node_.ib0().set_mtu(2044));

        constexpr std::uint16_t of_child = 0x8567, other = 0x8678;
        auto link = world_.subnet_link();
        link.p_key = of_child;
        REQUIRE(world_.subnet.sa().create_group(link.broadcast_gid(), link));
        for (const auto p_key : {of_child, other}) REQUIRE(world_.subnet.add_p_key(guid, p_key));
        world_.settle();
        auto* child = node_.node.create_child(of_child);
        REQUIRE(child);
        REQUIRE(child->up().empty());
        REQUIRE(child->add_address({ip("10.3.0.1"), 24}).empty());
        world_.loop.run_for(2s);
        const auto places = node_.hca.facts().p_keys.size();
        REQUIRE(world_.subnet.move_p_key(guid, of_child, places - 1));
        world_.loop.run_for(2s);
        for (const auto* to : {"224.0.0.1", "ff02::1"})
            static_cast<void>(child->sockets().send(ip(to), 9, std::vector<std::uint8_t>(30, 1), 3));
        world_.settle();
        REQUIRE(node_.node.delete_child(child->name()));
        REQUIRE(world_.subnet.move_p_key(guid, other, 0));
        world_.loop.run_for(3s);
        world_.subnet.restore_p_keys();
        world_.loop.run_for(3s);

        std::uint64_t prefix = (std::uint64_t{0xfec0} << 48) + 0x100;
        for (const auto& to : {ip("10.1.0.2"), peer6()}) {
            world_.subnet.set_prefix(++prefix);
            world_.loop.run_for(5s);
            node_.ib0().neighbours().flush();
            peer_.ib0().neighbours().flush();
            ping(node_, to);
        }
        world_.subnet.set_prefix(default_subnet_prefix);
        world_.loop.run_for(5s);
    }
    /// Paths and groups that are asked for at once, and joins that are answered when nobody wants them any more.
    void late_answers() {
        auto& faults = world_.subnet.sa().faults;
        const build::Link link = peer_.ib0().link();
        const auto peer_at = [&](std::uint64_t subnet, std::uint16_t lid) {
            const auto gid = Gid::of((std::uint64_t{0xfec0} << 48) + subnet, peer_.gid().interface_id());
            world_.subnet.sa().set_route(gid, lid);
            return gid;
        };
        const auto manager = peer_.hca.facts().sm_lid;
        for (const bool is_lost : {true, false})
            for (const bool is_v4 : {true, false}) {
                if (is_lost)
                    faults.drop_next = 1;
                else
                    faults.delay = 300ms;
                for (const auto lid : {as_peer().lid, manager}) {
                    const auto gid = peer_at(++subnets_, lid);
                    if (is_v4)
                        inject(build::arp_request(as_peer(0x0a010080 + subnets_), 0x0a010001, link)
                                   .set(ArpAddresses::sha_gid, gid));
                    else
                        inject(solicitation("fe80::8" + std::to_string(subnets_)).set(LinkAddressOption::gid, gid));
                }
                world_.loop.run_for(2s);
                faults = {};
                world_.loop.run_for(2s);
            }
        for (const auto& [first, second] : {std::pair{"239.5.5.1", "239.5.5.2"}, std::pair{"ff15::5:1", "ff15::5:2"}})
            for (const auto then : {fabric::Duration{0}, fabric::Duration{600ms}}) {
                for (const auto* group : {first, second}) REQUIRE(world_.join(peer_, ip(group)).empty());
                faults.delay = 600ms;
                send(first);
                world_.loop.run_for(then == fabric::Duration{0} ? 750ms : 200ms);
                faults.delay = then;
                send(second);
                world_.loop.run_for(3s);
                faults = {};
                for (const auto* group : {first, second}) send(group);
                world_.loop.run_for(60s);
            }
        for (const auto* group : {"239.5.5.3", "ff15::5:3"}) {
            node_.ib0().membership().join(ip(group), [](const std::string&) {});
            world_.settle();
            const auto joins = [&] { return world_.joins(world_.mgid(ip(group))).size(); };
            const auto before = joins();
            faults.delay = 500ms;
            world_.subnet.start_manager(false);
            for (int i = 0; i < 50 && joins() == before; ++i) world_.loop.run_for(100ms);
            static_cast<void>(node_.ib0().membership().leave(ip(group)));
            world_.loop.run_for(2s);
            faults = {};
            world_.loop.run_for(2s);
        }
        for (const auto* group : {"239.5.5.4", "ff15::5:4"}) {
            faults.delay = 500ms;
            node_.ib0().membership().join(ip(group), [](const std::string&) {});
            world_.settle();
            node_.ib0().down();
            world_.loop.run_for(2s);
            faults = {};
            REQUIRE(node_.ib0().up().empty());
            world_.loop.run_for(3s);
            static_cast<void>(node_.ib0().membership().leave(ip(group)));
        }
    }
    /// A further address that gives way to another one, and a neighbour there that is asked for before and after; then
    /// it says nothing any more.
    void other_address() {
        const build::Link link = peer_.ib0().link();
        struct Addresses {
            const char *former, *now, *known, *unknown;
        };
        for (const auto& [former, now, known, unknown] :
             {Addresses{"10.5.0.1", "10.5.0.2", "10.5.0.3", "10.5.0.4"},
              Addresses{"fd00::5:1", "fd00::5:2", "fd00::5:3", "fd00::5:4"}}) {
            const bool is_v4 = ip(former).is_v4();
            const std::uint8_t length = is_v4 ? 24 : 64;
            auto& node = node_.ib0();
            REQUIRE(node.add_address({ip(former), length}).empty());
            REQUIRE(peer_.ib0().add_address({ip(known), length}).empty());
            world_.settle();
            ping(node_, ip(known));
            REQUIRE(node.remove_address({ip(former), length}).empty());
            REQUIRE(node.add_address({ip(now), length}).empty());
            if (is_v4)
                inject(build::arp_request(as_peer(), ip(former).v4(), link));
            else
                inject(solicitation(wire::text(peer6()))
                           .set(NdTarget::target, ip(former).octets)
                           .set(Ipv6::destination, ip(former).octets));
            // What is sent to a group without members is not seen.
            if (!is_v4) REQUIRE(world_.join(peer_, IpAddress::v6(solicited_node_group(ip(unknown).octets))).empty());
            ping(node_, ip(unknown));
            world_.loop.run_for(31s);
            ping(node_, ip(known));
            REQUIRE(peer_.ib0().remove_address({ip(known), length}).empty());
            world_.loop.run_for(31s);
            for (int i = 0; i < 10; ++i) ping(node_, ip(known));
            REQUIRE(node.remove_address({ip(now), length}).empty());
        }
    }
    /// Two interfaces on one link, a group that gets another MLID, and a manager that starts anew.
    void interfaces() {
        auto& node = node_.ib0();
        auto* twin = node_.node.create_child(world_.subnet_link().p_key);
        REQUIRE(twin);
        REQUIRE(twin->up().empty());
        world_.loop.run_for(2s);
        const auto join = [this](Interface& interface, const IpAddress& group) {
            interface.membership().join(group, [](const std::string&) {});
            world_.settle();
        };
        for (const auto* name : {"239.5.5.6", "ff15::5:6"}) {
            const auto group = ip(name);
            join(node, group);
            join(*twin, group);
            static_cast<void>(twin->membership().leave(group));
            world_.settle();
            static_cast<void>(node.sockets().listen(group, 9));
            node.membership().join(
                group, [](const std::string&) {}, Membership::User::socket);
            world_.settle();
            auto& sa = world_.subnet.sa();
            sa.delete_group(world_.mgid(group));
            // It gets the MLID that is free now.
            const auto other = name == std::string_view{"239.5.5.6"} ? ip("239.5.5.7") : ip("ff15::5:7");
            REQUIRE(sa.create_group(world_.mgid(other), world_.subnet_link()));
            world_.loop.run_for(2s);
            static_cast<void>(peer_.ib0().sockets().send(group, 9, std::vector<std::uint8_t>(30, 1), 3));
            world_.loop.run_for(1s);
            for (const auto& one : node.sockets().take()) told_ += std::to_string(one.payload.size()) + '\n';
        }
        const auto of_twin = ip("239.5.5.8");
        join(*twin, of_twin);
        world_.subnet.sa().delete_group(world_.mgid(of_twin));
        world_.loop.run_for(2s);
        world_.subnet.start_manager(false);
        world_.loop.run_for(3s);
        REQUIRE(node_.node.delete_child(twin->name()));
        world_.loop.run_for(2s);
    }
    std::uint32_t subnets_ = 0x10;  ///< that peers were in
    /// A peer whose path the SA does not know at first, and one with two addresses.
    void peers() {
        const build::Link link = peer_.ib0().link();
        const auto remote = Gid::of((std::uint64_t{0xfec0} << 48) + 1, peer_.gid().interface_id());
        constexpr std::uint32_t another_qpn = 0x778;
        for (const bool has_path : {false, true}) {
            if (has_path) world_.subnet.sa().set_route(remote, as_peer().lid);
            inject(build::arp_request(as_peer(0x0a010035), 0x0a010001, link).set(ArpAddresses::sha_gid, remote));
            ping(node_, ip("10.1.0.53"));
            if (has_path) world_.subnet.sa().set_route(remote, 0);
        }
        const auto remote6 = Gid::of((std::uint64_t{0xfec0} << 48) + 2, peer_.gid().interface_id());
        for (const bool has_path : {false, true}) {
            if (has_path) world_.subnet.sa().set_route(remote6, as_peer().lid);
            inject(solicitation("fe80::53").set(LinkAddressOption::gid, remote6));
            ping(node_, ip("fe80::53"));
        }
        for (const auto& to : {ip("10.1.0.2"), peer6()}) ping(node_, to);
        inject(build::arp_request(as_peer(0x0a010036), 0x0a010001, link).set(ArpAddresses::sha_qpn, another_qpn));
        inject(solicitation("fe80::54").set(LinkAddressOption::qpn, another_qpn));
        for (const auto& to : {ip("10.1.0.2"), peer6()}) ping(node_, to);
    }
    void connections() {
        for (auto* host : {&node_, &peer_}) {
            host->ib0().connections().enable();
            host->ib0().neighbours().flush();
        }
        // UD is for IP still.
        inject(build::echo_request(as_peer(), as_node(), peer_.ib0().link(), 1));
        for (const auto& to : {peer6(), ip("10.1.0.2"), ip("10.1.0.2")}) ping(node_, to);
        ping(peer_, ip("10.1.0.1"));
        ping(peer_, node6());
        // One peer with two connections: IP over the first, before and after the second.
        constexpr std::uint32_t busy = 0x996;
        const auto qpn = connect(busy, 10);
        inject(over_connection(qpn, 0));
        static_cast<void>(connect(busy, 11));
        inject(over_connection(qpn, 1));
        inject(build::over_connection(solicitation("fe80::38"), qpn, 2));
        node_.ib0().connections().close();
        world_.settle();
        // A peer that does not exist but for its address: the request to it is open until its port rejects it.
        constexpr std::uint32_t ghost = 0x999;
        const build::Link link = peer_.ib0().link();
        inject(build::arp_request(as_peer(0x0a01003c), 0x0a010001, link)
                   .set(ArpAddresses::sha_flags, flag_rc)
                   .set(ArpAddresses::sha_qpn, ghost));
        static_cast<void>(node_.ib0().echo().ping(ip("10.1.0.60"), 56, 1s, [](bool) {}));
        inject(request_from(ghost, 1, 0, 0));
        inject(request_from(0x998, 2, 0, 0xff));
        inject(request_from(0x997, 3, 1, 0));
        constexpr std::uint32_t ghost6 = 0x99a;
        inject(solicitation("fe80::3d").set(LinkAddressOption::flags, flag_rc).set(LinkAddressOption::qpn, ghost6));
        static_cast<void>(node_.ib0().echo().ping(ip("fe80::3d"), 56, 1s, [](bool) {}));
        world_.loop.run_for(5s);
    }
    /// REQ, REP, RTU; the QPN of the node's end.
    std::uint32_t connect(std::uint32_t ud_qpn, std::uint32_t id) {
        inject(request_from(ud_qpn, id, 0, 0));
        std::uint32_t qpn = 0;
        for (const auto& one : world_.sent)
            if (const auto rep = one.packet.get<CmRep>(); rep && rep[CmRep::remote_comm_id] == id) {
                qpn = rep[CmRep::local_qpn];
                inject(build::connection_ready(as_peer(), as_node(), id, rep[CmRep::local_comm_id])
                           .set(Bth::p_key, peer_.ib0().link().p_key));
                break;
            }
        return qpn;
    }
    [[nodiscard]] PacketBuilder over_connection(std::uint32_t qpn, std::uint32_t psn) {
        return build::over_connection(build::echo_request(as_peer(), as_node(), peer_.ib0().link(), 1), qpn, psn);
    }
    [[nodiscard]] PacketBuilder request_from(std::uint32_t ud_qpn, std::uint32_t id, std::uint8_t service,
                                             std::uint8_t reserved) {
        PacketBuilder packet;
        const auto node = as_node(), peer = as_peer();
        packet.add(Bytes<Lrh>{}.set(Lrh::dlid, node.lid).set(Lrh::slid, peer.lid));
        packet.add(Bytes<Bth>{}
                       .set(Bth::opcode, Opcode::ud_send_only)
                       .set(Bth::p_key, peer_.ib0().link().p_key)
                       .set(Bth::dest_qp, 1));
        packet.add(Bytes<Deth>{}.set(Deth::q_key, 0x80010000).set(Deth::src_qp, 1));
        packet.add(Bytes<Mad>{}
                       .set(Mad::base_version, 1)
                       .set(Mad::mgmt_class, MgmtClass::communication)
                       .set(Mad::class_version, 2)
                       .set(Mad::method, Method::send)
                       .set(Mad::attribute_id, cm_attribute::req));
        Bytes<CmReq> req;
        req.set(CmReq::local_comm_id, id)
            .set(CmReq::service_id, answers::service_id(node.qpn))
            .set(CmReq::transport_service_type, service)
            .set(CmReq::primary_local_gid, peer.gid);
        const auto data = Bytes<CmPrivateData>{}
                              .set(CmPrivateData::reserved, reserved)
                              .set(CmPrivateData::ud_qpn, ud_qpn)
                              .set(CmPrivateData::receive_mtu, 2048);
        auto octets = req[CmReq::private_data];
        std::copy(data.octets.begin(), data.octets.end(), octets.begin());
        return packet.add(req.set(CmReq::private_data, octets));
    }
    /// It is taken down while it waits for a path, and asked for something then.
    void end() {
        node_.ib0().down();
        world_.settle();
        REQUIRE(node_.ib0().up().empty());
        world_.loop.run_for(3s);
        world_.subnet.sa().faults.delay = 500ms;
        static_cast<void>(node_.ib0().echo().ping(ip("10.1.0.2"), 56, 1s, [](bool) {}));
        world_.loop.run_for(100ms);
        const auto question = arp_request_to_it();
        node_.ib0().down();
        world_.loop.run_for(2s);
        inject(question);
        world_.loop.run_for(2s);
    }

    World world_;
    Host& node_;
    Host& peer_;
    std::string told_;  ///< why joins failed, as programs hear it
};

}  // namespace

std::string day_of(const Policies& policies) { return Day{policies}.text(); }

}  // namespace ipoib::stack::test
