// SPDX-License-Identifier: GPL-2.0-or-later
#include "traffic-gen/profile.hpp"

namespace ipoib::traffic {

const Profile udp_unicast{
    .name = "udp",
    .what = "UDP over IPv4 from each host to another, --size octets of payload",
    .families = Families::ipv4,
    .headers = wire::Ipv4::size + wire::Udp::size,
    .play =
        [](Stage& stage) {
            const auto& net = stage.scene().net();
            const auto flows = net.hosts.size();
            for (std::size_t i = 0; stage.goes_on(); i = i + 1 == flows ? 0 : i + 1)
                stage.send_numbered(
                    i, [&](wire::Octets payload) { return udp(net.host(i), net.host(i + 1), net.link, payload); });
        },
};

}  // namespace ipoib::traffic
