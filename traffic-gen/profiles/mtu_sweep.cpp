// SPDX-License-Identifier: GPL-2.0-or-later
#include "traffic-gen/profile.hpp"

#include "protocol/state/parameters.hpp"

namespace ipoib::traffic {
using namespace wire;

const Profile mtu_sweep{
    .name = "mtu-sweep",
    .what = "UDP datagrams of every size, from none to what the link carries",
    .families = Families::ipv4,
    .play =
        [](Stage& stage) {
            auto& scene = stage.scene();
            const auto& link = scene.net().link;
            const auto most = state::mtu_octets(link.mtu) - Encap::size - Ipv4::size - Udp::size;
            for (std::size_t i = 0; stage.goes_on(); ++i)
                stage.send(udp(scene.net().host(0), scene.net().host(1), link, i % (most + 1)));
        },
};

}  // namespace ipoib::traffic
