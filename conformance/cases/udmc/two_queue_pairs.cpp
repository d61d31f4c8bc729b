// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case all_attached_queue_pairs_get_it{
    .id = "IPOIB-UDMC-VAL-003",
    .title = "Multicast is delivered to every attached queue pair, also to those of the sender's adapter",
    .checks = {&udmc::delivery_to_all_attached_qps, &udmc::multicast_loopback},
    .pass_if = "two interfaces of the DUT on one port and link both get the tester's packet, and one the other's",
    .tags = {"hca", "mgid"},
    .dut_can = {"create_child", "listen", "received", "send"},
    .lasts_at_most = 60s,
    .steps =
        [](Bench& bench) {
            bench.step("A second interface of the DUT on the same link");
            const auto child = bench.dut_has_twin();
            const auto group = bench.fresh_group4();
            const auto port = bench.fresh_port();
            const auto mlid = bench.join(group).mlid();
            bench.dut().listen(group, port);
            child->listen(group, port);
            const auto is_received = [&](Dut& dut, const std::string& payload) {
                return std::ranges::any_of(dut.received(), [&](const DatagramReceived& one) {
                    return one.port == port && one.payload.starts_with(payload);
                });
            };

            bench.step("The tester sends to the group", udmc::delivery_to_all_attached_qps);
            bool first = false, second = false;
            constexpr int attempts = 3;  // until the switches know the way
            for (int i = 0; i < attempts && !(first && second); ++i) {
                bench.send(udp_to_group(group, mlid, port));
                bench.pass_time(500ms);
                const auto payload = hex(bench.situation().nonce, 4).substr(2);
                first = is_received(bench.dut(), payload) || first;
                second = is_received(*child, payload) || second;
            }
            bench.precondition(first || second, "one of them gets it");
            bench.require(first && second, "both interfaces get the packet", "only one does");

            bench.step("One of them sends to the group", udmc::multicast_loopback);
            bench.dut_sends(group, port);
            bench.precondition(udp_from_dut(group, port).that_arrives(), within(5s));
            bench.pass_time(500ms);
            bench.require(is_received(*child, hex(bench.situation().nonce, 4).substr(2)),
                          "the other interface gets the packet", "it does not");
        },
};

}  // namespace ipoib::conformance
