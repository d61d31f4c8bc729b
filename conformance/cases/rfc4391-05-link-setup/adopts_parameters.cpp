// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {
namespace {

/// What the DUT sends to many, in the situation's family, with the link's parameters.
Expectation sent_to_many(Bench& bench) {
    const auto& link = bench.link();
    constexpr auto everyone = IpAddress::v4(0xffffffff);
    const bool is_ipv6 = bench.situation().is_ipv6();
    bench.step(is_ipv6 ? "The DUT sends to a group of the tester" : "The DUT sends a broadcast");
    const auto to = is_ipv6 ? bench.fresh_group() : everyone;
    const auto port = bench.fresh_port();
    if (is_ipv6) bench.sa.join(to);
    bench.dut.sends(to, port);
    return udp_from_dut(to, port)
        .sent_anywhere()
        .with(Deth::q_key, link.q_key)
        .with(Lrh::sl, link.sl)
        .with(Grh::traffic_class, link.traffic_class)
        .with(Grh::flow_label, link.flow_label)
        .with(Grh::hop_limit, link.hop_limit);
}

}  // namespace

const Case broadcast_parameters_are_adopted{
    .id = "IPOIB-4391-5-VAL-002",
    .title = "The DUT uses the parameters that the join of the broadcast group returned",
    .checks = {&rfc4391::adopts_broadcast_parameters},
    .pass_if =
        "a broadcast of the DUT, in IPv6 a packet to a group that was made like the broadcast group, has Q_Key, SL, "
        "TClass, FlowLabel and HopLimit of the group; its MTU is the link's",
    .tags = {"sa", "broadcast", "mtu", "ipv4", "ipv6"},
    .dut_can = {"send"},
    .in_both_families = true,
    .steps =
        [](Bench& bench) {
            const auto& link = bench.link();
            constexpr build::Link usual;
            if (link.q_key == usual.q_key && link.sl == usual.sl && link.flow_label == usual.flow_label)
                bench.not_applicable(
                    "this link has the usual parameters, which prove nothing; the scenario "
                    "\"controlled\" has others");
            bench.inspect(sent_to_many(bench), within(3s));
        },
};

const Case new_broadcast_parameters_are_adopted{
    .id = "IPOIB-4391-5-VAL-006",
    .title = "The DUT uses the parameters of a broadcast group that has come back with others",
    .checks = {&rfc4391::adopts_broadcast_parameters},
    .pass_if =
        "when the broadcast group has been made anew with other parameters, and the subnet manager has asked every "
        "port to reregister, what the DUT sends to many has the new ones, and it answers",
    .tags = {"sa", "broadcast", "reregister", "ipv4", "ipv6"},
    .impact = Impact::fabric,
    .needs = Ability::trusted_sa | Ability::fabric_control,
    .dut_can = {"send"},
    .in_both_families = true,
    .lasts_at_most = 80s,
    .steps =
        [](Bench& bench) {
            const auto& link = bench.link();
            const auto broadcast = link.broadcast_gid();
            // What is wrong at rest is judged elsewhere.
            bench.step("The DUT uses the parameters that the group has");
            bench.control();
            bench.precondition(sent_to_many(bench), within(3s));
            bench.step("The broadcast group is made anew, with other parameters");
            bench.fabric.change(SetGroup{broadcast, false});
            // Each differs from what it was, and stays what a group may have.
            bench.fabric.change(SetGroup{.mgid = broadcast,
                                         .q_key = link.q_key ^ 0x00010000,
                                         .flow_label = link.flow_label ^ 0x00421,
                                         .sl = static_cast<std::uint8_t>(link.sl ^ 9),
                                         .traffic_class = static_cast<std::uint8_t>(link.traffic_class ^ 0x40),
                                         .hop_limit = static_cast<std::uint8_t>(link.hop_limit ^ 4)});
            bench.fabric.change(SetManager{.keeps_state = true});
            bench.tester.enter_link_again();
            bench.precondition(bench.sa.has_dut_as_full_member(broadcast, within(30s)), "the DUT has joined it");
            bench.pass_time(2s);
            auto datagram = sent_to_many(bench);
            for (int i = 0; i < 5 && !bench.happens(datagram, within(2s)); ++i) datagram = sent_to_many(bench);
            bench.expect_rest();
            bench.require(datagram, within(3s));
            bench.require_traffic(within(20s));
        },
};

}  // namespace ipoib::conformance
