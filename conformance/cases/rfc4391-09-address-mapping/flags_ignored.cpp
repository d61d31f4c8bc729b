// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case link_address_flags_ignored{
    .id = "IPOIB-4391-9.1.1-INV-001",
    .title = "A receiver ignores the reserved flags of a link-layer address",
    .checks = {&rfc4391::link_address_flags_rx},
    .pass_if = "an ARP request whose sender address has reserved flags set is answered, and the address is used",
    .tags = {"arp"},
    .dut_can = {"send", "flush_neighbours"},
    .steps =
        [](Bench& bench) {
            bench.step("An ordinary ARP request is answered");
            bench.send(arp_request());
            bench.precondition(arp_reply(), within(1s));
            for (const auto flags : std::array<std::uint8_t, 3>{0x01, 0x20, 0x3f}) {
                bench.step("ARP request with flags " + hex(flags, 2));
                bench.dut->flush_neighbours();
                bench.send(arp_request().with(ArpAddresses::sha_flags, flags));
                bench.require(arp_reply(), within(1s));
                const auto port = bench.fresh_port();
                const auto tester = IpAddress::v4(bench.situation().tester.ipv4);
                bench.dut.sends(tester, port);
                bench.require(udp_from_dut(tester, port), within(3s));
            }
        },
};

}  // namespace ipoib::conformance
