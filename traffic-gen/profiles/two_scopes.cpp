// SPDX-License-Identifier: GPL-2.0-or-later
#include "traffic-gen/profiles/exchanges.hpp"

namespace ipoib::traffic {
using namespace wire;

namespace {

/// Two links in one partition, told apart by the scope of their broadcast-GIDs; a port has an interface on each.
/// RFC 4391, 4 and 4.1; RFC 4392, 4.
std::vector<Net> links_of(Scene& scene, std::size_t number) {
    constexpr std::uint8_t site_local = 5, organization_local = 8, levels = 15;
    auto inner = scene.nets()[number], outer = inner;
    auto& link = outer.link;
    link.scope = inner.link.scope == site_local ? organization_local : site_local;
    link.q_key ^= 0x1000;
    link.sl = static_cast<std::uint8_t>((link.sl + 1) % levels);
    ++link.hop_limit;
    link.flow_label ^= 1;
    link.broadcast_mlid = scene.mlid(link.broadcast_gid());
    for (std::size_t i = 0; i < outer.hosts.size(); ++i) outer.hosts[i] = child_of(inner.hosts[i], scene, i, number);
    return {inner, outer};
}

/// On one of the two.
void any_packet(Stage& stage, const Net& net) {
    auto& scene = stage.scene();
    const auto& link = net.link;
    const auto first = stage.any(net.hosts.size()), second = first + 1 + stage.any(net.hosts.size() - 1);
    const auto &from = net.host(first), &to = net.host(second);
    const auto size = stage.size();
    switch (stage.any(4)) {
        case 0:
            resolve(stage, net, first, second);
            stage.send(build::echo_request(from, to, link, 1, size));
            stage.send(build::echo_reply(to, from, link, 1, size));
            break;
        case 1:
            resolve6(stage, net, first, second);
            stage.send(build::echo_request6(from, to, link, 1, size));
            break;
        case 2: {
            const auto group = scene.group4(stage.any(scene.groups()));
            const auto mgid = mgid_for_ipv4(group, link.p_key, link.scope);
            join(stage, to, link, mgid, join_state::full_member);
            join_to_send(stage, from, link, mgid);
            stage.send(build::udp_to_group(from, group, scene.mlid(mgid), link, size));
            break;
        }
        default: {
            const auto group = scene.group6(stage.any(scene.groups()));
            const auto mgid = mgid_for_ipv6(group, link.p_key, link.scope);
            join(stage, to, link, mgid, join_state::full_member);
            join_to_send(stage, from, link, mgid);
            stage.send(build::udp6_to_group(from, group, scene.mlid(mgid), link, size));
        }
    }
}

}  // namespace

const Profile two_scopes{
    .name = "two-scopes",
    .what = "two links in one partition, whose broadcast-GIDs differ in scope, each with parameters of its own",
    .impact = Impact::link,
    .no_fabric = "the link of a fabric has one scope",
    .prepare = [](Stage&) {},
    .play =
        [](Stage& stage) {
            auto& scene = stage.scene();
            std::vector<Net> links;
            for (std::size_t i = 0; i < scene.nets().size(); ++i)
                for (const auto& net : links_of(scene, i)) {
                    links.push_back(net);
                    for (const auto& host : net.hosts) {
                        join(stage, host, net.link, net.link.broadcast_gid(), join_state::full_member);
                        subscribe(stage, host);
                    }
                }
            while (stage.goes_on()) any_packet(stage, links[stage.any(links.size())]);
        },
};

}  // namespace ipoib::traffic
