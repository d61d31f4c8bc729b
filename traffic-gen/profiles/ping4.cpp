// SPDX-License-Identifier: GPL-2.0-or-later
#include "traffic-gen/profile.hpp"

namespace ipoib::traffic {

const Profile ping4{
    .name = "ping4",
    .what = "echo requests and replies of IPv4 between neighbours",
    .families = Families::ipv4,
    .headers = wire::Ipv4::size + wire::Udp::size,
    .play =
        [](Stage& stage) {
            for (std::uint16_t i = 0; stage.goes_on(); ++i) {
                const auto &from = stage.scene().net().host(i), &to = stage.scene().net().host(i + 1u);
                const auto size = stage.size();
                stage.send(echo_request(from, to, stage.scene().net().link, i, size));
                stage.send(echo_reply(to, from, stage.scene().net().link, i, size));
            }
        },
};

}  // namespace ipoib::traffic
