// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

/// An interface whose MTU is larger than that of UD has one for each connection; where the peer's Receive MTU is that
/// of UD, a stack that leaves all connections at the MTU of UD is right too. RFC 4755, 5.1 and 7.2.
const Case mtu_of_connection{
    .id = "IPOIB-4755-5.1-VAL-002",
    .title = "What goes over a connection is not longer than the peer's Receive MTU",
    .checks = {&rfc4755::cm_connection_mtu},
    .pass_if =
        "with a larger MTU of its interface the DUT sends no message that is longer than the Receive MTU in the "
        "tester's REP; what is longer comes in fragments, or is refused",
    .tags = {"connected", "mtu", "ipv4", "ipv6"},
    .needs = Ability::any_frame | Ability::see_all,
    .dut_can = {"set_mode", "set_mtu", "send", "flush_neighbours"},
    .in_both_families = true,
    .lasts_at_most = 60s,
    .steps =
        [](Bench& bench) {
            const auto longest = bench.situation().ip_mtu();
            const auto headers = bench.situation().ip_header() + Udp::size;
            bench.step("The DUT goes to connected mode, with an MTU larger than that of UD");
            bench.connection.dut_takes_part_and_sends();
            if (!bench.dut.takes_mtu(2 * longest))
                bench.not_applicable("the DUT's MTU is never larger than that of UD");
            bench.step("It requests a connection; the tester's Receive MTU is that of UD");
            const auto receive_mtu = static_cast<std::uint32_t>(longest + Encap::size);
            (void)bench.connection.taken_from_dut(receive_mtu);
            const auto tester = bench.situation().tester_address();
            // The first packet of what is too long may be lost for IP to learn its path MTU.
            constexpr int attempts = 5;
            for (const std::size_t beyond : {std::size_t{0}, std::size_t{2}, std::size_t{4}, longest / 2}) {
                bench.step("A datagram of the connection's MTU" +
                           (beyond == 0 ? std::string{} : " and " + std::to_string(beyond) + " octets"));
                const auto port = bench.fresh_port();
                bool has_come = false, is_taken = false;
                for (int i = 0; i < attempts && !has_come; ++i) {
                    is_taken = bench.dut.tries_to_send(tester, port, longest - headers + beyond) || is_taken;
                    has_come = bench.happens(beyond == 0 ? udp_from_dut(tester, port) : first_fragment(), within(2s));
                }
                bench.forbid_so_far(message_longer_than(receive_mtu));
                if (beyond == 0)
                    bench.precondition(has_come, "the datagram arrives");
                else
                    bench.require(has_come || !is_taken, "fragments of it, or a refusal");
            }
        },
};

}  // namespace ipoib::conformance
