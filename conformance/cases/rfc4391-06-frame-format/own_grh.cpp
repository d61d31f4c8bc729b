// SPDX-License-Identifier: GPL-2.0-or-later
// The GRH of what the DUT sends. IBTA Vol 1, 8.3.
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {
namespace {

/// That the packet's GRH is one of this sender: no port takes it by another next header, and whoever looks for the
/// sender, or for its own packets, finds it by the SGID.
Expectation with_own_grh(const Expectation& packet) {
    return packet.having<Grh>()
        .with(Grh::version, 6)
        .with(Grh::next_header, Grh::iba_transport)
        // The GID with the default prefix is a port's own in every subnet (IBTA Vol 1, 4.1.1).
        .where(
            Grh::sgid,
            [](const Gid& gid, const Situation& s) {
                return gid == s.dut.gid || gid == Gid::of(default_subnet_prefix, s.dut.gid.interface_id());
            },
            "the GID of its port");
}

}  // namespace

const Case grh_is_the_senders{
    .id = "IPOIB-4392-4.2-VAL-001",
    .title = "The GRH of a packet to a group is a right one, and names its sender",
    .checks = {&rfc4392::multicast_packet_headers},
    .pass_if =
        "what the DUT broadcasts and sends to a group has a GRH of IP version 6 with the next header of IBA's "
        "transport, and with the GID of the DUT's port as its SGID",
    .tags = {"grh", "ipv4", "ipv6"},
    .dut_can = {"send"},
    .in_both_families = true,
    .lasts_at_most = 40s,
    .steps =
        [](Bench& bench) {
            const auto group = bench.fresh_group();
            bench.step("The DUT sends to a group");
            bench.sa.join(group);
            const auto port = bench.fresh_port();
            bench.dut.is_seen_to_send(group, port);
            bench.dut.maps_rightly(group);
            bench.inspect(with_own_grh(udp_from_dut(group, port)), within(5s));
            if (bench.situation().is_ipv6()) return;
            bench.step("It broadcasts");
            const auto to_all = bench.fresh_port();
            const auto everyone = IpAddress::v4(0xffffffff);
            bench.dut.is_seen_to_send(everyone, to_all);
            bench.inspect(with_own_grh(udp_from_dut(everyone, to_all)), within(5s));
        },
};

}  // namespace ipoib::conformance
