// SPDX-License-Identifier: GPL-2.0-or-later
#include "protocol/wire/igmp.hpp"
#include "traffic-gen/profile.hpp"

namespace ipoib::traffic {
using namespace wire;

const Profile membership{
    .name = "membership",
    .what = "hosts join groups, report them by IGMP, and leave them again",
    .impact = Impact::link,
    .play =
        [](Stage& stage) {
            auto& scene = stage.scene();
            const auto& link = scene.net().link;
            const auto all_routers = mgid_for_ipv4(0xe0000002, link.p_key, link.scope);
            for (std::size_t i = 0; stage.goes_on(); ++i) {
                const auto& host = scene.net().host(i);
                const auto group = scene.group4(i / scene.net().hosts.size());
                const auto mgid = mgid_for_ipv4(group, link.p_key, link.scope);
                join(stage, host, link, mgid, join_state::full_member);
                stage.send(igmp(host, igmp_type::report_v2, group, scene.mlid(mgid), link));
                join(stage, host, link, all_routers, join_state::send_only_non_member);
                stage.send(igmp(host, igmp_type::leave, group, scene.mlid(all_routers), link));
                leave(stage, host, link, all_routers, join_state::send_only_non_member);
                leave(stage, host, link, mgid, join_state::full_member);
            }
        },
};

}  // namespace ipoib::traffic
