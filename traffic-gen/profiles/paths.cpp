// SPDX-License-Identifier: GPL-2.0-or-later
#include "traffic-gen/manager.hpp"
#include "traffic-gen/profiles/exchanges.hpp"

namespace ipoib::traffic {

/// RFC 4391, 9.1.2.
const Profile paths{
    .name = "paths",
    .what = "hosts ask the SA for the path to a neighbour before they speak with it",
    .families = Families::ipv4,
    .prepare =
        [](Stage& stage) {
            const auto& scene = stage.scene();
            for (const auto& net : scene.nets())
                for (const auto& host : net.hosts)
                    if (!stage.administrator())
                        stage.send(build::port_info(host, scene.administrator(), wire::Method::get_resp,
                                                    port_info_of(host, scene.administrator(), net.link)));
            bring_up(stage);
        },
    .play =
        [](Stage& stage) {
            const auto& net = stage.scene().net();
            for (std::uint16_t i = 0; stage.goes_on(); ++i) {
                const auto &from = net.host(i), &to = net.host(i + 1u);
                // The reply of ARP needs a path, too.
                stage.send(build::arp_request(from, to.ipv4, net.link));
                ask_for_path(stage, to, from, net.link);
                stage.send(build::arp_reply(to, from, net.link));
                ask_for_path(stage, from, to, net.link);
                const auto size = stage.size();
                stage.send(build::echo_request(from, to, net.link, i, size));
                stage.send(build::echo_reply(to, from, net.link, i, size));
            }
        },
};

}  // namespace ipoib::traffic
