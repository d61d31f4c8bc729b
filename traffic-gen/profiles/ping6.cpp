// SPDX-License-Identifier: GPL-2.0-or-later
#include "traffic-gen/profile.hpp"

namespace ipoib::traffic {

const Profile ping6{
    .name = "ping6",
    .what = "echo requests of IPv6 between neighbours, and replies",
    .families = Families::ipv6,
    .play =
        [](Stage& stage) {
            for (std::uint16_t i = 0; stage.goes_on(); ++i) {
                const auto &from = stage.scene().net().host(i), &to = stage.scene().net().host(i + 1u);
                const auto size = stage.size();
                stage.send(echo_request6(from, to, stage.scene().net().link, i, size));
                auto reply = echo_request6(to, from, stage.scene().net().link, i, size);
                stage.send(reply.choose(wire::Icmpv6::type, wire::Icmpv6Type::echo_reply));
            }
        },
};

}  // namespace ipoib::traffic
