// SPDX-License-Identifier: GPL-2.0-or-later
#include "traffic-gen/profiles/exchanges.hpp"

namespace ipoib::traffic {
using namespace wire;

namespace {

/// Where there is another subnet, this one has been given a prefix, too.
build::Node given_prefix(build::Node host) {
    host.gid = Gid::of(0xfec0000000000007u, host.gid.interface_id());
    return host;
}

/// The far host asks for the address of a near one, and pings it.
void visit(Stage& stage, const build::Node& far, const build::Node& near, const build::Link& link) {
    auto counted_down = link;
    --counted_down.hop_limit;
    stage.send(build::arp_request(far, near.ipv4, counted_down));
    stage.send(with_grh<Arp, ArpAddresses>(near, far, link, build::arp_reply(near, far, link)));
    const auto request = build::echo_request(far, near, link, 1), reply = build::echo_reply(near, far, link, 1);
    stage.send(with_grh<Ipv4, Icmp>(far, near, counted_down, request));
    stage.send(with_grh<Ipv4, Icmp>(near, far, link, reply));
}

}  // namespace

/// RFC 4391, 9.1.
const Profile two_subnets{
    .name = "two-subnets",
    .what = "a host of another IB subnet, behind an IB router, resolves hosts of this one and pings them",
    .impact = Impact::link,
    .no_fabric = "it plays a router",
    .prepare =
        [](Stage& stage) {
            const auto link = spanning(stage.scene());
            for (const auto& host : stage.scene().net().hosts) {
                come_up(stage, given_prefix(host), link);
                join(stage, given_prefix(host), link, link.broadcast_gid(), join_state::full_member);
            }
        },
    .play =
        [](Stage& stage) {
            const auto link = spanning(stage.scene());
            const auto& net = stage.scene().net();
            for (std::size_t i = 0; stage.goes_on(); ++i)
                visit(stage, behind_router(net.host(0)), given_prefix(net.host(i)), link);
        },
};

}  // namespace ipoib::traffic
