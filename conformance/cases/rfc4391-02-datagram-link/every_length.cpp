// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case packets_of_every_length_pass{
    .id = "IPOIB-4391-2-VAL-005",
    .title = "IP packets of every length modulo four, short and long, are received and sent",
    .checks = {&rfc4391::ud_transport},
    .pass_if =
        "echo requests of lengths next to each other are answered, as one of the usual length is. Datagrams of such "
        "lengths, up to the link's MTU, to the tester and to a group are for the rules to look at",
    .tags = {"ipv4", "ipv6", "egress"},
    .in_both_families = true,
    .lasts_at_most = 90s,
    .steps =
        [](Bench& bench) {
            // An InfiniBand packet is padded to a multiple of four octets.
            constexpr std::size_t kinds = 4;
            bench.step("Echo requests", rfc4391::ud_transport);
            bench.control();
            for (const std::size_t begin : {0U, 56U, 300U, 900U})
                for (std::size_t length = begin; length < begin + kinds; ++length) {
                    bench.send(echo_request(length));
                    const bool is_answered = bench.happens(echo_reply(), within(2s));
                    // One that has gone altogether is another matter.
                    if (!is_answered) bench.control();
                    bench.require(is_answered, "an answer to one with " + std::to_string(length) + " octets", "none");
                }
            if (!bench.dut->can("send")) return;
            const auto& now = bench.situation();
            const auto longest = now.ip_mtu() - now.ip_header() - Udp::size;
            const auto group = bench.fresh_group();
            (void)bench.sa.join(group);
            for (const auto& [title, to] : {std::pair{"Datagrams to the tester", now.tester_address()},
                                            std::pair{"Datagrams to a group", group}}) {
                bench.step(title);
                const auto port = bench.fresh_port();
                for (const auto begin : {std::size_t{0}, std::size_t{56}, longest / 2, longest + 1 - kinds})
                    for (std::size_t length = begin; length < begin + kinds; ++length) {
                        bench.dut.sends(to, port, length);
                        (void)bench.happens(udp_from_dut(to, port).sent_anywhere(), within(1s));
                    }
            }
        },
};

}  // namespace ipoib::conformance
