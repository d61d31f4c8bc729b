// SPDX-License-Identifier: GPL-2.0-or-later
#include "traffic-gen/profiles/exchanges.hpp"

namespace ipoib::traffic {
using namespace wire;

namespace {

/// One router hop from where a packet was sent.
constexpr std::uint8_t forwarded = 63;

/// A host, its router, and somebody for whom the host has a route through the router: a third one of the same link, or
/// one that is far away. RFC 1122, 3.3.1; RFC 5942, 4.
struct Route {
    Stage& stage;
    const build::Link& link;
    build::Node host, router, other;
    bool is_on_link;

    void send4() const {
        const auto size = stage.size();
        stage.send(build::echo_request(host, with_ip_of(router, other), link, 1, size));
        if (is_on_link)
            stage.send(
                build::echo_request(with_ip_of(router, host), other, link, 1, size).choose(Ipv4::ttl, forwarded));
        comes_back4(build::echo_reply(with_ip_of(router, other), host, link, 1, size), size);
    }
    void send6() const {
        const auto size = stage.size();
        stage.send(build::echo_request6(host, with_ip_of(router, other), link, 1, size));
        if (is_on_link)
            stage.send(build::echo_request6(with_ip_of(router, host), other, link, 1, size)
                           .choose(Ipv6::hop_limit, forwarded));
        auto reply = build::echo_request6(with_ip_of(router, other), host, link, 1, size);
        reply.choose(Icmpv6::type, Icmpv6Type::echo_reply);
        if (!is_on_link || stage.any(2) == 0) return stage.send(reply.choose(Ipv6::hop_limit, forwarded));
        // The other one has no such route.
        stage.send(build::echo_request6(other, host, link, 1, size).choose(Icmpv6::type, Icmpv6Type::echo_reply));
    }

private:
    void comes_back4(build::PacketBuilder by_router, std::size_t size) const {
        if (is_on_link && stage.any(2) == 0) return stage.send(build::echo_reply(other, host, link, 1, size));
        stage.send(by_router.choose(Ipv4::ttl, forwarded));
    }
};

/// The router answers for a far host as if that were on the link. RFC 1027; RFC 4861, 7.2.8.
void by_proxy(Stage& stage, const Net& net, std::size_t host, const build::Node& router) {
    const auto far = with_ip_of(router, far_host(stage.any(100)));
    stage.send(build::arp_request(net.host(host), far.ipv4, net.link));
    stage.send(build::arp_reply(far, net.host(host), net.link));
    stage.send(build::udp(net.host(host), far, net.link, stage.size()));
}

/// From one partition to another by a router on both.
void between_links(Stage& stage, const Net& from, const Net& to, std::size_t host, std::size_t router) {
    const auto &sender = from.host(host), &receiver = to.host(host);
    const auto size = stage.size();
    resolve(stage, from, host, router);
    stage.send(build::udp(sender, with_ip_of(from.host(router), receiver), from.link, size));
    resolve(stage, to, router, host);
    stage.send(build::udp(with_ip_of(to.host(router), sender), receiver, to.link, size).choose(Ipv4::ttl, forwarded));
}

void some_route(Stage& stage, std::size_t number) {
    const auto& nets = stage.scene().nets();
    const auto net = with_global_addresses(nets[number], number + 1);
    const auto hosts = net.hosts.size();
    const auto host = stage.any(hosts), router = host + 1 + stage.any(hosts - 1), third = host + router;
    const bool is_third = third % hosts != host && third % hosts != router % hosts;
    const bool is_on_link = is_third && stage.any(3) != 0;
    const Route route{
        stage,     net.link, net.host(host), net.host(router), is_on_link ? net.host(third) : far_host(stage.any(100)),
        is_on_link};
    resolve(stage, net, host, router);
    resolve6(stage, net, host, router);
    if (is_on_link) {
        // That it is on the link is no secret; the route is another matter.
        announce4(stage, net.host(third), net.link);
        resolve(stage, net, third, host);
        resolve6(stage, net, third, host);
        resolve(stage, net, router, third);
        resolve6(stage, net, router, third);
    }
    for (auto times = 1 + stage.any(3); times > 0; --times) stage.any(2) == 0 ? route.send4() : route.send6();
    if (stage.any(4) == 0) by_proxy(stage, net, host, net.host(router));
    if (nets.size() > 1) between_links(stage, net, nets[(number + 1) % nets.size()], host, router);
}

}  // namespace

/// RFC 4391, 9.1: the link-layer address is that of the next hop.
const Profile gateway{
    .name = "gateway",
    .what = "hosts reach far ones, and some on their own link, through a router of IP",
    .impact = Impact::link,
    .prepare = bring_up_senders,
    .play =
        [](Stage& stage) {
            while (stage.goes_on()) some_route(stage, stage.any(stage.scene().nets().size()));
        },
};

}  // namespace ipoib::traffic
