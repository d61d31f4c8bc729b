// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case ip_mtu_is_2044{
    .id = "IPOIB-4391-7-VAL-001",
    .title = "IP packets of 2044 octets are received and sent whole",
    .checks = {&rfc4391::ip_mtu_2044, &rfc4391::default_mtu_2044},
    .pass_if = "an echo request of 2044 octets is answered by one packet of 2044 octets",
    .tags = {"mtu", "ipv4", "ipv6"},
    .least_mtu = 2044,
    .in_both_families = true,
    .steps =
        [](Bench& bench) {
            constexpr std::size_t mtu = 2044;
            const auto& now = bench.situation();
            if (now.ip_mtu() < mtu) bench.not_applicable("this link's MTU is less than 2044");
            bench.step("An ordinary echo request is answered");
            bench.control();
            bench.step("An echo request of 2044 octets is answered by one packet");
            bench.send(echo_request(mtu - now.ip_header() - Icmp::size));
            bench.require(echo_reply().with_ip_length(now.family, mtu), within(1s));
        },
};

}  // namespace ipoib::conformance
