// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/rfc4391-02-datagram-link/ip_options.hpp"

namespace ipoib::conformance {

const Case received_datagrams_are_delivered{
    .id = "IPOIB-4391-2-VAL-002",
    .title = "Unicast, broadcast and what is sent to a joined group come to the programs that listen",
    .checks = {&rfc4391::ud_transport, &rfc4391::fabric_multicast, &rfc4391::broadcast_group_carries_broadcasts},
    .pass_if =
        "UDP datagrams to the DUT's address, to a group that it joined and, in IPv4, to 255.255.255.255 and the "
        "network's broadcast address are received by a program of the DUT, and echo requests with options of IPv4 or "
        "extension headers of IPv6 are answered",
    .tags = {"ipv4", "ipv6", "broadcast"},
    .dut_can = {"listen", "received"},
    .in_both_families = true,
    .lasts_at_most = 60s,
    .steps =
        [](Bench& bench) {
            const auto& now = bench.situation();
            const auto own = now.is_ipv6() ? IpAddress::v6(now.dut.ipv6) : IpAddress::v4(now.dut.ipv4);
            const auto port = bench.fresh_port();
            bench.step("Unicast", rfc4391::ud_transport);
            bench.control();
            bench.dut->listen(own, port);
            bench.require(bench.dut.receives(udp_to_dut(port), port, within(1s)), "a datagram to " + text(own), "none");

            for (const auto& request : echo_requests_with_options(now)) {
                bench.step("An " + request.what(), rfc4391::ud_transport);
                bench.control();
                bench.send_until(request, echo_reply(), within(1s));
                bench.require(bench.happens(echo_reply(), within(0ms)), "an answer", "none");
            }

            bench.step("A group that a program listens to", rfc4391::fabric_multicast);
            const auto group = bench.fresh_group();
            const auto joined = bench.sa.join(group);
            bench.control();
            bench.dut->listen(group, port);
            const auto hears = [&](const Message& datagram, std::uint16_t at) {
                const bool is_heard = bench.dut.receives(datagram, at, within(2s));
                if (!is_heard) (void)bench.dut.is_reached();
                return is_heard;
            };
            bench.require(hears(udp_to_group(group, joined.mlid(), port), port), "a datagram to " + text(group),
                          "none");

            if (now.is_ipv6()) return;
            bench.step("Broadcasts", rfc4391::broadcast_group_carries_broadcasts);
            const auto another = bench.fresh_port();
            bench.control();
            bench.dut->listen(another);
            bench.require(hears(udp_broadcast(another), another), "a datagram to 255.255.255.255", "none");
            const auto directed = bench.dut->can("interface") ? bench.dut.directed_broadcast() : std::nullopt;
            if (!directed) return bench.note("the DUT does not tell the prefix of its network");
            bench.require(hears(udp_broadcast(another).with(Ipv4::destination, directed->v4()), another),
                          "a datagram to " + text(*directed), "none");
        },
};

}  // namespace ipoib::conformance
