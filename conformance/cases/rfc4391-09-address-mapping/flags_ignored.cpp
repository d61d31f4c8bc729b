// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case link_address_flags_ignored{
    .id = "IPOIB-4391-9.1.1-INV-001",
    .title = "A receiver ignores the reserved flags of a link-layer address",
    .checks = {&rfc4391::link_address_flags_rx},
    .pass_if = "a question whose sender address has reserved flags set is answered, and the address is used",
    .tags = {"arp", "ipv4", "ipv6"},
    .dut_can = {"send", "flush_neighbours"},
    .in_both_families = true,
    .steps =
        [](Bench& bench) {
            bench.step("An ordinary question for the DUT's address is answered");
            bench.send(address_request());
            bench.precondition(address_reply(), within(2s));
            for (const auto flags : std::array<std::uint8_t, 3>{0x01, 0x20, 0x3f}) {
                bench.step("One with flags " + hex(flags, 2));
                bench.dut->flush_neighbours();
                bench.send(address_request().with_either(ArpAddresses::sha_flags, LinkAddressOption::flags, flags));
                bench.require(address_reply(), within(1s));
                const auto port = bench.fresh_port();
                const auto tester = bench.situation().tester_address();
                bench.dut.sends(tester, port);
                bench.require(udp_from_dut(tester, port), within(3s));
            }
        },
};

}  // namespace ipoib::conformance
