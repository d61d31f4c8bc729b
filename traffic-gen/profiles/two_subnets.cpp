// SPDX-License-Identifier: GPL-2.0-or-later
#include "protocol/build/headers.hpp"
#include "traffic-gen/profile.hpp"

namespace ipoib::traffic {
using namespace wire;

namespace {

/// A link that an IB router joins out of two subnets: its groups have more than local scope, and packets may go on.
build::Link spanning(Scene& scene) {
    constexpr std::uint8_t site_local = 5, far = 64;
    auto link = scene.net().link;
    link.scope = site_local;
    link.hop_limit = far;
    link.broadcast_mlid = scene.mlid(link.broadcast_gid());
    return link;
}

/// A host of the other subnet, as this one sees it: behind the router's LID.
build::Node behind_router(const build::Node& like) {
    constexpr std::uint64_t other_prefix = 0xfec0000000000001, other_guid = 0x100000;
    constexpr std::uint16_t router_lid = 0x7000;
    constexpr std::uint32_t other_address = 0x8000;
    auto node = like;
    node.lid = router_lid;
    node.gid = Gid::of(other_prefix, like.gid.interface_id() + other_guid);
    node.ipv4 = like.ipv4 + other_address;
    return node;
}

/// With a GRH, as all that crosses subnets.
template <class... Header>
build::PacketBuilder with_grh(const build::Node& from, const build::Node& to, const build::Link& link,
                              const build::PacketBuilder& packet) {
    auto whole = build::unicast_with_grh(from, to, link);
    return build::append_headers<Header...>(whole, packet);
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
            for (const auto& host : stage.scene().net().hosts)
                join(stage, host, link, link.broadcast_gid(), join_state::full_member);
        },
    .play =
        [](Stage& stage) {
            const auto link = spanning(stage.scene());
            const auto& net = stage.scene().net();
            for (std::size_t i = 0; stage.goes_on(); ++i) visit(stage, behind_router(net.host(0)), net.host(i), link);
        },
};

}  // namespace ipoib::traffic
