// SPDX-License-Identifier: GPL-2.0-or-later
#include "traffic-gen/profiles/exchanges.hpp"

namespace ipoib::traffic {

const Profile nd{
    .name = "nd",
    .what = "each host asks for the address of another by Neighbour Discovery, and is answered",
    // Solicitations go to groups.
    .families = Families::ipv6,
    .prepare = bring_up_senders,
    .play =
        [](Stage& stage) {
            for (std::size_t i = 0; stage.goes_on(); ++i) resolve6(stage, stage.scene().net(), i, i + 1);
        },
};

}  // namespace ipoib::traffic
