// SPDX-License-Identifier: GPL-2.0-or-later
#include "traffic-gen/profile.hpp"

namespace ipoib::traffic {

const Profile join_storm{
    .name = "join-storm",
    .what = "every host joins every group at once, and leaves it again",
    .impact = Impact::fabric,
    .needs_neighbour = false,
    .play =
        [](Stage& stage) {
            auto& scene = stage.scene();
            const auto& link = scene.net().link;
            const auto each = [&](const auto& what) {
                for (std::size_t group = 0; group < scene.groups(); ++group)
                    for (const auto& host : scene.net().hosts)
                        what(stage, host, link, wire::mgid_for_ipv4(scene.group4(group), link.p_key, link.scope),
                             wire::join_state::full_member);
            };
            while (stage.goes_on()) {
                each(join);
                each(leave);
            }
        },
};

}  // namespace ipoib::traffic
