// SPDX-License-Identifier: GPL-2.0-or-later
#include "traffic-gen/profile.hpp"

namespace ipoib::traffic {

const Profile udp_unicast{
    .name = "udp",
    .what = "UDP over IPv4 from each host to another, --size octets of payload",
    .play =
        [](Stage& stage) {
            for (std::size_t i = 0; stage.goes_on(); ++i)
                stage.send(udp(stage.scene().net().host(i), stage.scene().net().host(i + 1), stage.scene().net().link,
                               stage.size()));
        },
};

}  // namespace ipoib::traffic
