// SPDX-License-Identifier: GPL-2.0-or-later
// What IP is told of how a packet came: RFC 1122, 2.4 and 3.2.2; RFC 4443, 2.4 (e).
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case group_is_not_answered_with_errors{
    .id = "IPOIB-4391-2-VAL-004",
    .title = "What came to a group is not answered with an error of ICMP, whatever its IP destination",
    .checks = {&rfc4391::fabric_multicast, &rfc4391::broadcast_group_carries_broadcasts},
    .pass_if =
        "a datagram to the DUT's address and a port that nobody listens at is answered with an error of ICMP when it "
        "is sent to the DUT, and not when it is sent to a group that it is in, or to the broadcast group. WARN "
        "otherwise: the rule is IP's, and the link tells IP how a packet came. NA where there are no such errors",
    .tags = {"ipv4", "ipv6", "broadcast"},
    .dut_can = {"join"},
    .in_both_families = true,
    .lasts_at_most = 40s,
    .steps =
        [](Bench& bench) {
            const auto group = bench.fresh_group();
            const auto joined = bench.sa.join(group);
            bench.dut.joins(group);
            const auto is_refused = [&](const Message& datagram, std::uint16_t port) {
                // Errors are rationed: Linux sends one a second.
                bench.pass_time(2s);
                bench.send(datagram);
                return bench.happens(port_unreachable(port), within(2s));
            };
            const auto refuses_own = [&] {
                const auto port = bench.fresh_port();
                return is_refused(udp_to_dut(port), port) || is_refused(udp_to_dut(port), port);
            };
            bench.step("A datagram to a port that nobody listens at");
            bench.control();
            if (!refuses_own()) bench.not_applicable("the DUT does not say that a port is unreachable");
            const auto port = bench.fresh_port(), another = bench.fresh_port();
            const auto& dut = bench.situation().dut;
            const bool is_v6 = bench.situation().is_ipv6();
            const auto to_group = udp_to_group(group, joined.mlid(), port);
            const auto to_dut =
                is_v6 ? to_group.with(Ipv6::destination, dut.ipv6) : to_group.with(Ipv4::destination, dut.ipv4);
            bench.step("The same to a group that it is in", rfc4391::fabric_multicast);
            bench.recommend(!is_refused(to_dut, port), "no error of ICMP", "one");
            if (!is_v6) {
                bench.step("The same to the broadcast group", rfc4391::broadcast_group_carries_broadcasts);
                bench.recommend(!is_refused(udp_broadcast(another).with(Ipv4::destination, dut.ipv4), another),
                                "no error of ICMP", "one");
            }
            bench.step("It still says so of what is sent to it alone");
            bench.precondition(refuses_own(), "an error of ICMP");
        },
};

}  // namespace ipoib::conformance
