// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case ip_mtu_is_2044{
    .id = "IPOIB-4391-7-VAL-001",
    .title = "IP packets of 2044 octets are received and sent whole",
    .checks = {&rfc4391::ip_mtu_2044, &rfc4391::default_mtu_2044},
    .pass_if = "echo requests of 2044 octets, and of less, are answered by one packet of as many",
    .tags = {"mtu", "ipv4", "ipv6"},
    .least_mtu = 2044,
    .in_both_families = true,
    .lasts_at_most = 80s,
    .steps =
        [](Bench& bench) {
            constexpr std::size_t mtu = 2044;
            const auto& now = bench.situation();
            if (now.ip_mtu() < mtu) bench.not_applicable("this link's MTU is less than 2044");
            bench.step("An ordinary echo request is answered");
            bench.control();
            bench.step("An echo request of 2044 octets is answered by one packet");
            const auto comes_whole = [&](std::size_t length) {
                bench.send_until(echo_request(length - now.ip_header() - Icmp::size), echo_reply(), within(1s));
                bench.require(echo_reply().with_ip_length(now.family, length), within(0ms));
            };
            comes_whole(mtu);
            bench.step("So are shorter ones");
            // Multiples of the sizes that buffers and caches have, and every rest that is left of them.
            for (std::size_t length = 64; length < mtu; length += 64) comes_whole(length);
            constexpr std::size_t first = 650, apart = 43, rests = 32;
            for (std::size_t i = 0; i < rests; ++i) comes_whole(first + i * apart);
            comes_whole(mtu - 1);
        },
};

}  // namespace ipoib::conformance
