// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case carries_the_least_ipv6_mtu{
    .id = "IPOIB-4755-5-VAL-001",
    .title = "A link carries IPv6 packets of 1280 octets in datagram and in connected mode",
    .checks = {&rfc4755::cm_minimum_mtu},
    .pass_if = "an ICMPv6 echo request of 1280 octets is answered by one packet of 1280 octets in both modes",
    .tags = {"connected", "mtu", "ipv6"},
    .dut_can = {"set_mode"},
    .steps =
        [](Bench& bench) {
            constexpr std::size_t least = 1280, payload = least - Ipv6::size - Icmpv6::size;
            if (bench.situation().ip_mtu() < least) bench.not_applicable("this link's MTU is less than 1280");
            const auto whole = echo_reply6().with(Ipv6::payload_length, least - Ipv6::size);
            bench.step("As the DUT was found");
            bench.control6();
            bench.send(echo_request6(payload));
            bench.require(whole, within(1s));
            bench.step("In connected mode");
            bench.connection.dut_takes_part();
            bench.control();
            bench.send(echo_request6(payload));
            bench.require(whole, within(1s));
        },
};

}  // namespace ipoib::conformance
