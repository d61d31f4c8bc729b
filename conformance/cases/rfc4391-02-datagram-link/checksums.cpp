// SPDX-License-Identifier: GPL-2.0-or-later
// What came damaged, though the link did not notice: RFC 1122, 3.2.1.2 and 4.1.3.4; RFC 8200, 8.1.
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case damaged_datagrams_are_dropped{
    .id = "IPOIB-4391-2-VAL-003",
    .title = "A datagram whose checksum is wrong does not come to a program",
    .checks = {&rfc4391::ud_transport},
    .pass_if =
        "a program that receives a datagram receives none with a wrong checksum of UDP, nor, in IPv4, of IP. WARN "
        "otherwise: it is IP's rule",
    .tags = {"ipv4", "ipv6", "robust"},
    .dut_can = {"listen", "received"},
    .in_both_families = true,
    .lasts_at_most = 30s,
    .steps =
        [](Bench& bench) {
            const auto& now = bench.situation();
            const auto own = now.is_ipv6() ? IpAddress::v6(now.dut.ipv6) : IpAddress::v4(now.dut.ipv4);
            // One of two may be right by chance.
            constexpr std::array<std::uint16_t, 2> wrong{0x1234, 0x4321};
            const auto drops = [&](const char* title, const auto& field) {
                const auto port = bench.fresh_port();
                bench.step(title, rfc4391::ud_transport);
                bench.dut->listen(own, port);
                bench.precondition(bench.dut.receives(udp_to_dut(port), port, within(2s)), "a datagram is received");
                for (const auto checksum : wrong) bench.send(udp_to_dut(port).with(field, checksum));
                bench.pass_time(500ms);
                bench.control();
                const auto all = bench.dut->received();
                const auto count = static_cast<std::size_t>(std::ranges::count(all, port, &DatagramReceived::port));
                bench.recommend(count < wrong.size(), "none of them", std::to_string(count));
            };
            drops("Wrong checksums of UDP", Udp::checksum);
            if (!now.is_ipv6()) drops("Wrong checksums of the IPv4 header", Ipv4::checksum);
        },
};

}  // namespace ipoib::conformance
