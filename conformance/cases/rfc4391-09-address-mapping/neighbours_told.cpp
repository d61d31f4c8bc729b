// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case neighbour_table_has_the_address{
    .id = "IPOIB-4391-9.1.1-VAL-004",
    .title = "A neighbour is kept with its link-layer address of 20 octets, as it told it",
    .checks = {&rfc4391::link_address_format},
    .pass_if = "once the tester is resolved the DUT's neighbours have its QPN and its GID",
    .tags = {"arp", "nd", "ipv4", "ipv6"},
    .dut_can = {"neighbours", "flush_neighbours", "send"},
    .in_both_families = true,
    .lasts_at_most = 20s,
    .steps =
        [](Bench& bench) {
            const auto tester = bench.situation().tester;
            const auto address = bench.situation().tester_address();
            const auto port = bench.fresh_port();
            bench.step("The DUT resolves the tester");
            bench.dut->flush_neighbours();
            bench.dut.sends(address, port);
            bench.precondition(udp_from_dut(address, port), within(5s));
            const auto all = bench.dut->neighbours();
            const auto found = std::ranges::find(all, address, &NeighbourEntry::address);
            bench.precondition(found != all.end(), "the tester is among the neighbours that the DUT tells");
            const auto told = View<LinkAddress>::at(found->link_address);
            const bool is_whole = told && found->link_address.size() == LinkAddress::size;
            bench.require(is_whole, "20 octets", std::to_string(found->link_address.size()));
            if (!is_whole) return;
            bench.require(told[LinkAddress::qpn] == tester.qpn, "QPN " + hex(tester.qpn, 6),
                          "QPN " + hex(told[LinkAddress::qpn], 6));
            bench.require(told[LinkAddress::gid] == tester.gid, "GID " + text(tester.gid),
                          "GID " + text(told[LinkAddress::gid]));
        },
};

}  // namespace ipoib::conformance
