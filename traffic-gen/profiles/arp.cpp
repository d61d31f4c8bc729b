// SPDX-License-Identifier: GPL-2.0-or-later
#include "traffic-gen/profile.hpp"

namespace ipoib::traffic {

const Profile arp{
    .name = "arp",
    .what = "each host asks for the address of another by ARP, and is answered",
    .families = Families::ipv4,
    .play =
        [](Stage& stage) {
            for (std::size_t i = 0; stage.goes_on(); ++i) resolve(stage, stage.scene().net(), i, i + 1);
        },
};

}  // namespace ipoib::traffic
