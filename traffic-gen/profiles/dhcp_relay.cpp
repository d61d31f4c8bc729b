// SPDX-License-Identifier: GPL-2.0-or-later
#include "protocol/build/dhcp.hpp"
#include "traffic-gen/profiles/exchanges.hpp"

namespace ipoib::traffic {
using namespace wire;

namespace {

constexpr std::uint32_t first_relayed_xid = 0x49600000;
constexpr build::Lease relayed_lease{.renewal = 1800, .rebinding = 3150, .end = 3600, .mask = 0xffff0000};

/// A relay on the link, and a server that is somewhere behind a router. The relay takes the server's place for clients,
/// by the option of RFC 5107. RFC 2131, 4.3.1 and 4.4; RFC 1542, 4.1.
struct Relay {
    Stage& stage;
    const Net& net;
    build::Node relay, router, server;

    void leases(const build::Node& client, std::uint32_t xid) const {
        ask(client, build::dhcp_discover(client, net.link, xid), DhcpType::offer);
        ask(client, build::dhcp_request(client, net.link, xid, client.ipv4, relay.ipv4), DhcpType::ack);
        stage.send(build::arp_request(client, relay.ipv4, net.link));
        stage.send(build::arp_reply(relay, client, net.link));
        ask(client, build::dhcp_renewal(client, relay, net.link, xid + 1, client.ipv4), DhcpType::ack);
    }

private:
    void ask(const build::Node& client, const build::PacketBuilder& message, DhcpType type) const {
        auto granted = relayed_lease;
        granted.address = client.ipv4;
        stage.send(message);
        auto onward = message;
        stage.send(between(onward, relay, with_ip_of(router, server)));
        const auto answer = build::dhcp_reply(relay, client, net.link, type, message.get<Dhcp>(), granted);
        auto inward = answer;
        stage.send(between(inward, with_ip_of(router, server), relay));
        stage.send(answer);
    }
    /// The message as it is on its way between relay and server.
    [[nodiscard]] build::PacketBuilder& between(build::PacketBuilder& packet, const build::Node& from,
                                                const build::Node& to) const {
        constexpr std::uint16_t server_port = 67;
        if (packet.get<Grh>()) packet.remove<Grh>();
        return packet.choose(Lrh::slid, from.lid)
            .choose(Lrh::dlid, to.lid)
            .choose(Bth::dest_qp, to.qpn)
            .choose(Deth::src_qp, from.qpn)
            .choose(Ipv4::source, from.ipv4)
            .choose(Ipv4::destination, to.ipv4)
            .choose(Udp::source, server_port)
            .choose(Udp::destination, server_port)
            .choose(Dhcp::hops, 1)
            .choose(Dhcp::giaddr, relay.ipv4);
    }
};

}  // namespace

/// RFC 4390, where the server is on another network.
const Profile dhcp_relay{
    .name = "dhcp-relay",
    .what = "hosts get addresses by DHCP through a relay from a server behind a router of IP",
    .impact = Impact::link,
    .families = Families::ipv4,
    .no_fabric = "it plays a server behind a router",
    .play =
        [](Stage& stage) {
            auto& scene = stage.scene();
            const auto& nets = scene.nets();
            for (std::size_t i = 0; i < nets.size(); ++i)
                join(stage, scene.other(0, i), nets[i].link, nets[i].link.broadcast_gid(), join_state::full_member);
            for (auto xid = first_relayed_xid; stage.goes_on(); xid += 2) {
                const auto number = stage.any(nets.size());
                const auto& net = nets[number];
                const auto at = stage.any(net.hosts.size()), client = at + 1 + stage.any(net.hosts.size() - 1);
                const Relay relay{stage, net, net.host(at), scene.other(0, number), far_host(stage.options().seed)};
                resolve(stage, Net{net.link, {relay.relay, relay.router}}, 0, 1);
                relay.leases(net.host(client), xid);
            }
        },
};

}  // namespace ipoib::traffic
