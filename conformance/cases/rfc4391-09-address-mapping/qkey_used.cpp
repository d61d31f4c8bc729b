// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case qkey_of_the_broadcast_group_is_used{
    .id = "IPOIB-4391-9.1.2-VAL-001",
    .title = "Unicast and multicast carry the Q_Key of the broadcast group",
    .checks = {&rfc4391::qkey_of_broadcast_group},
    .pass_if = "echo reply, broadcast and packet to a group of the DUT have the broadcast group's Q_Key",
    .tags = {"qkey", "ipv4", "ipv6"},
    .needs = Ability::see_all,
    .dut_can = {"send"},
    .in_both_families = true,
    .steps =
        [](Bench& bench) {
            const auto q_key = bench.link().q_key;
            bench.step("Unicast");
            bench.send(echo_request());
            bench.inspect(echo_reply().sent_anywhere().with(Deth::q_key, q_key), within(1s));
            const auto port = bench.fresh_port();
            if (!bench.situation().is_ipv6()) {
                bench.step("Broadcast");
                constexpr auto everyone = IpAddress::v4(0xffffffff);
                bench.dut.sends(everyone, port);
                bench.inspect(udp_from_dut(everyone, port).sent_anywhere().with(Deth::q_key, q_key), within(3s));
            }
            bench.step("Multicast");
            const auto group = bench.fresh_group();
            bench.sa.join(group);
            bench.dut.sends(group, port);
            bench.inspect(udp_from_dut(group, port).sent_anywhere().with(Deth::q_key, q_key), within(5s));
        },
};

}  // namespace ipoib::conformance
