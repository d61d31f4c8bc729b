// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case mtu_is_that_of_the_link{
    .id = "IPOIB-4391-7-VAL-002",
    .title = "The interface's MTU is that of the link, not of its port",
    .checks = {&rfc4391::link_mtu, &rfc4391::adopts_broadcast_parameters, &rfc4391::other_mtus},
    .pass_if =
        "the interface says no more than the broadcast group's MTU less 4 octets; whether packets of that size pass is "
        "noted",
    .tags = {"mtu", "ipv4", "ipv6"},
    .dut_can = {"interface"},
    .in_both_families = true,
    .steps =
        [](Bench& bench) {
            const auto mtu = bench.situation().ip_mtu();
            bench.step("What the interface says", rfc4391::link_mtu, rfc4391::adopts_broadcast_parameters);
            const auto facts = bench.dut->interface();
            const auto said = facts.mtu;
            if (said == 0) bench.not_applicable("the adapter does not tell the interface's MTU");
            if (facts.mode == "connected")
                bench.not_applicable("in connected mode the interface has an MTU of its own (RFC 4755, 5)");
            bench.require(said <= mtu, "at most " + std::to_string(mtu), std::to_string(said));
            const auto octets = std::min(mtu, said);
            bench.step("Packets of this size", rfc4391::other_mtus);
            bench.send(echo_request(octets - bench.situation().ip_header() - Icmp::size));
            const bool passes = bench.happens(echo_reply(), within(2s));
            const auto packets = "IP packets of " + std::to_string(octets) + " octets ";
            // Another MTU than 2044 is permitted, and so nothing is broken without.
            if (passes) bench.require(true, "an echo reply", "none");
            bench.note(packets + (passes ? "pass" : "had no answer") +
                       (said < mtu ? "; the link would carry " + std::to_string(mtu) : std::string{}));
        },
};

}  // namespace ipoib::conformance
