// SPDX-License-Identifier: GPL-2.0-or-later
#include "traffic-gen/profiles/exchanges.hpp"

namespace ipoib::traffic {
using namespace wire;

/// RFC 4391, 4.1, 5, 9 and 10: what is seen of a host that comes up.
const Profile whole_bring_up{
    .name = "bring-up",
    .what = "hosts come up: joins, subscriptions, resolution in both families, a first echo",
    .impact = Impact::link,
    .prepare = [](Stage&) {},
    .play =
        [](Stage& stage) {
            auto& scene = stage.scene();
            const auto& link = scene.net().link;
            for (std::size_t i = 0; stage.goes_on(); ++i) {
                const auto& host = scene.net().host(i);
                if (stage.memberships_of(host.gid).empty()) come_up(stage, host, link);
                join(stage, host, link, link.broadcast_gid(), join_state::full_member);
                subscribe(stage, host);
                join(stage, host, link, mgid_for_ipv4(0xe0000001, link.p_key, link.scope), join_state::full_member);
                // Who came up first has nobody to talk to yet.
                if (i == 0 && scene.net().hosts.size() > 1) continue;
                const auto before = i + scene.net().hosts.size() - 1;
                const auto& neighbour = scene.net().host(before);
                resolve(stage, scene.net(), i, before);
                stage.send(echo_request(host, neighbour, link, 1));
                stage.send(echo_reply(neighbour, host, link, 1));
                resolve6(stage, scene.net(), i, before);
            }
        },
};

}  // namespace ipoib::traffic
