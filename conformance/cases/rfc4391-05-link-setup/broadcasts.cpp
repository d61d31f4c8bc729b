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
            constexpr std::uint32_t first_host = 0xc6121005, apart = 0x1000;
            auto host = first_host;
            for (const auto length : std::array<std::uint8_t, 3>{20, 27, 30}) {
                bench.step("The same of a network with a prefix of " + std::to_string(length) + " bits");
                if (!bench.dut.takes_address({IpAddress::v4(host), length}))
                    return bench.note("the DUT takes no further IPv4 address");
                goes_to_all(IpAddress::v4(host | 0xffffffffu >> length));
                host += apart;
            }
        },
};

}  // namespace ipoib::conformance
