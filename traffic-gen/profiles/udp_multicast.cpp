// SPDX-License-Identifier: GPL-2.0-or-later
#include "traffic-gen/profiles/exchanges.hpp"

namespace ipoib::traffic {
using namespace wire;

const Profile udp_multicast{
    .name = "udp-multicast",
    .what = "UDP to groups of IPv4 and IPv6 that the other hosts have joined",
    .impact = Impact::link,
    .needs_neighbour = false,
    .prepare =
        [](Stage& stage) {
            bring_up(stage);
            auto& scene = stage.scene();
            const auto& link = scene.net().link;
            const auto& sender = scene.net().hosts.front();
            subscribe(stage, sender);
            const auto all_join = [&](const Gid& mgid) {
                for (const auto& host : scene.net().hosts)
                    if (&host != &sender) join(stage, host, link, mgid, join_state::full_member);
                // A group must be there before it can be joined to send; where nobody is in it, the sender makes it.
                if (!join(stage, sender, link, mgid, join_state::send_only_non_member))
                    (void)join(stage, sender, link, mgid, join_state::full_member);
            };
            for (std::size_t i = 0; i < scene.groups(); ++i) {
                all_join(mgid_for_ipv4(scene.group4(i), link.p_key, link.scope));
                all_join(mgid_for_ipv6(scene.group6(i), link.p_key, link.scope));
            }
        },
    .play =
        [](Stage& stage) {
            auto& scene = stage.scene();
            const auto& link = scene.net().link;
            const auto& sender = scene.net().hosts.front();
            for (std::size_t i = 0; stage.goes_on(); ++i) {
                const auto group = i % scene.groups();
                stage.send_numbered(2 * group, [&](Octets payload) {
                    const auto to = scene.group4(group);
                    return udp_to_group(sender, to, scene.mlid(mgid_for_ipv4(to, link.p_key, link.scope)), link,
                                        payload);
                });
                stage.send_numbered(2 * group + 1, [&](Octets payload) {
                    const auto to = scene.group6(group);
                    return udp6_to_group(sender, to, scene.mlid(mgid_for_ipv6(to, link.p_key, link.scope)), link,
                                         payload);
                });
            }
        },
};

}  // namespace ipoib::traffic
