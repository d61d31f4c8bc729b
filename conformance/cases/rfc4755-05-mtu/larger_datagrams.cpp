// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case larger_datagrams{
    .id = "IPOIB-4755-5-VAL-003",
    .title = "Datagrams longer than the MTU of UD over a connection",
    .checks = {&rfc4755::cm_larger_mtu},
    .pass_if =
        "whether a datagram that both sides' Receive MTUs allow comes whole, or in fragments, or is refused, is noted",
    .tags = {"connected", "mtu", "ipv4", "ipv6"},
    .needs = Ability::any_frame | Ability::see_all,
    .dut_can = {"set_mode", "set_mtu", "send", "flush_neighbours"},
    .in_both_families = true,
    .lasts_at_most = 40s,
    .steps =
        [](Bench& bench) {
            const auto longest = bench.situation().ip_mtu();
            const auto headers = bench.situation().ip_header() + Udp::size;
            bench.step("The DUT has an MTU larger than that of UD, and a connection");
            bench.connection.dut_takes_part_and_sends();
            if (!bench.dut.takes_mtu(2 * longest))
                bench.not_applicable("the DUT's MTU is never larger than that of UD");
            (void)bench.connection.taken_from_dut(static_cast<std::uint32_t>(4 * longest));
            bench.step("A datagram that is as long as its MTU");
            const auto tester = bench.situation().tester_address();
            const auto port = bench.fresh_port();
            constexpr int attempts = 5;
            bool has_come = false, is_taken = false;
            for (int i = 0; i < attempts && !has_come; ++i) {
                is_taken = bench.dut.tries_to_send(tester, port, 2 * longest - headers) || is_taken;
                // Where the path's MTU is larger than the link's, one packet may hold all of it.
                has_come = bench.happens(end_of_message(), within(1s)) || bench.happens(first_fragment(), within(1s)) ||
                           bench.happens(message_longer_than(longest + Encap::size), within(0s));
            }
            if (!has_come && !is_taken) {
                bench.require(true, "a refusal");
                return bench.note("the DUT refuses to send it");
            }
            bench.precondition(has_come, "the datagram, whole or in fragments");
            const bool is_whole = bench.happens(message_longer_than(longest + Encap::size), within(0s));
            bench.require(true, "the datagram");
            bench.note(is_whole ? "it comes whole" : "it comes in fragments");
        },
};

}  // namespace ipoib::conformance
