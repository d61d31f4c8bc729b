// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case directed_broadcasts_go_to_the_broadcast_group{
    .id = "IPOIB-4391-5-VAL-005",
    .title = "A directed broadcast goes to the broadcast group",
    .checks = {&rfc4391::broadcast_group_carries_broadcasts},
    .pass_if =
        "the DUT's datagrams to all hosts of its network, and of networks of other lengths that it is given an address "
        "of, have the broadcast-GID as DGID and its MLID as DLID",
    .tags = {"broadcast", "ipv4"},
    .dut_can = {"send", "interface"},
    .lasts_at_most = 30s,
    .steps =
        [](Bench& bench) {
            const auto goes_to_all = [&](const IpAddress& everyone) {
                const auto& link = bench.link();
                const auto port = bench.fresh_port();
                bench.dut.sends(everyone, port);
                bench.require(udp_from_dut(everyone, port)
                                  .sent_anywhere()
                                  .with(Grh::dgid, link.broadcast_gid())
                                  .with(Lrh::dlid, link.broadcast_mlid),
                              within(3s));
            };
            const auto everyone = bench.dut.directed_broadcast();
            if (!everyone) bench.not_applicable("the DUT does not tell the prefix of its network");
            bench.step("The DUT sends a datagram to all hosts of its network");
            goes_to_all(*everyone);
            if (!bench.dut->can("add_address")) return;
            // RFC 2544: addresses that are nobody's. The networks lie beside each other.
            const auto networks = {parse_network("198.19.0.5/16"), parse_network("198.18.16.5/20"),
                                   parse_network("198.18.32.5/27"), parse_network("198.18.48.5/30")};
            for (const auto& network : networks) {
                bench.step("The same of " + text(*network));
                if (!bench.dut.takes_address(*network)) return bench.note("the DUT takes no further IPv4 address");
                goes_to_all(IpAddress::v4(network->address.v4() | 0xffffffffu >> network->length));
            }
        },
};

}  // namespace ipoib::conformance
