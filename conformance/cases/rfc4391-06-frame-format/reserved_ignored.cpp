// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case encap_reserved_ignored{
    .id = "IPOIB-4391-6-INV-001",
    .title = "A receiver ignores the Reserved field of the encapsulation header",
    .checks = {&rfc4391::encap_reserved_rx, &rfc4391::encap_reserved_tx},
    .pass_if = "the DUT answers every echo request and question for its address, and its own Reserved field is zero",
    .tags = {"encap", "arp", "ipv4", "ipv6"},
    .in_both_families = true,
    .lasts_at_most = 40s,
    .steps =
        [](Bench& bench) {
            bench.step("An ordinary echo request is answered", rfc4391::encap_reserved_tx);
            bench.send(echo_request());
            bench.precondition(echo_reply(), within(1s));
            bench.require(echo_reply().with(Encap::reserved, 0), within(1s));

            bench.step("An echo request with Reserved bits set is answered too", rfc4391::encap_reserved_rx);
            for (const auto reserved : std::array<std::uint16_t, 3>{0x0001, 0x8000, 0xffff}) {
                bench.send(echo_request().with(Encap::reserved, reserved));
                bench.require(echo_reply(), within(1s));
            }

            bench.step("A question for its address is answered", rfc4391::encap_reserved_tx);
            bench.send_until(address_request(), address_reply(), within(1s));
            bench.precondition(address_reply(), within(0ms));
            bench.inspect(address_reply().with(Encap::reserved, 0), within(0ms));
            bench.step("So is one with Reserved bits", rfc4391::encap_reserved_rx);
            for (const auto reserved : std::array<std::uint16_t, 3>{0x0001, 0x8000, 0xffff}) {
                bench.send(address_request().with(Encap::reserved, reserved));
                bench.require(address_reply(), within(1s));
            }

            bench.step("Its answers of other lengths have none either", rfc4391::encap_reserved_tx);
            constexpr std::array<std::size_t, 6> lengths{2, 3, 5, 129, 258, 515};
            const auto& now = bench.situation();
            for (const auto length : lengths) {
                if (length + Ipv6::size + Icmp::size > now.ip_mtu()) break;
                bench.send_until(echo_request(length), echo_reply(), within(1s));
                bench.inspect(echo_reply().with(Encap::reserved, 0), within(0ms));
            }
            if (!bench.dut->can("send")) return;
            bench.step("Nor has what it sends to a group", rfc4391::encap_reserved_tx);
            const auto group = bench.fresh_group();
            bench.sa.join(group);
            for (const auto length : lengths) {
                if (length + Ipv6::size + Udp::size > now.ip_mtu()) break;
                const auto port = bench.fresh_port();
                if (!bench.dut.tries_to_send(group, port, length))
                    return bench.note("the DUT sends no datagram of " + std::to_string(length) + " octets");
                const auto datagram = udp_from_dut(group, port);
                // It may be dropped while the sender's join is on its way.
                if (!bench.happens(datagram, within(5s))) bench.dut.sends(group, port, length);
                bench.inspect(datagram.with(Encap::reserved, 0), within(5s));
            }
        },
};

}  // namespace ipoib::conformance
