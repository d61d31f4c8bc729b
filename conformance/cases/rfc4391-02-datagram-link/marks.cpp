// SPDX-License-Identifier: GPL-2.0-or-later
// What a sender, or a switch on the way, may choose, and a receiver has no say in. IBTA Vol 1, 7.6 and 9.2.
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case marked_datagrams_are_taken{
    .id = "IPOIB-4391-2-VAL-005",
    .title = "Unicast is taken whatever its sender and the switches chose: event, congestion marks, service level",
    .checks = {&rfc4391::ud_transport},
    .pass_if =
        "echo requests are answered that have the Solicited Event bit, the marks of a congested switch, or the last "
        "hop "
        "of their IP behind them, and, where the SA tells a path with another SL, on that",
    .tags = {"ipv4", "ipv6", "sl"},
    .impact = Impact::link,
    .needs = Ability::any_frame,
    .in_both_families = true,
    .lasts_at_most = 60s,
    .steps =
        [](Bench& bench) {
            constexpr std::uint8_t fecn_and_becn = 0xc0, last_hop = 1;
            const auto is_answered = [&](const std::string& title, const Message& request) {
                bench.step(title);
                bench.control();
                bench.send_until(request, echo_reply(), within(2s));
                bench.require(echo_reply(), within(0ms));
            };
            is_answered("With the Solicited Event bit", echo_request().with(Bth::solicited, true));
            is_answered("With the marks of congestion", echo_request().with(Bth::reserved8, fecn_and_becn));
            // RFC 1122, 3.2.1.7: TTL is for those who pass a packet on.
            is_answered("At the end of its IP way", echo_request().with_either(Ipv4::ttl, Ipv6::hop_limit, last_hop));
            const auto dut = bench.situation().dut;
            const auto sl = static_cast<std::uint8_t>(bench.link().sl ^ 2);
            bench.step("The SA tells a path to the DUT on another SL");
            if (!bench.fabric.can_change(SetPath{dut.gid, dut.lid, sl}))
                return bench.note("no path on another SL here");
            is_answered("On that SL", echo_request().with(Lrh::sl, sl));
        },
};

}  // namespace ipoib::conformance
