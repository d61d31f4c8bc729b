// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case broadcast_parameters_are_adopted{
    .id = "IPOIB-4391-5-VAL-002",
    .title = "The DUT uses the parameters that the join of the broadcast group returned",
    .checks = {&rfc4391::adopts_broadcast_parameters},
    .pass_if =
        "a broadcast of the DUT has Q_Key, SL, TClass, FlowLabel and HopLimit of the group; its MTU is the link's",
    .tags = {"sa", "broadcast", "mtu"},
    .dut_can = {"send"},
    .steps =
        [](Bench& bench) {
            const auto& link = bench.link();
            constexpr build::Link usual;
            if (link.q_key == usual.q_key && link.sl == usual.sl && link.flow_label == usual.flow_label)
                bench.not_applicable(
                    "this link has the usual parameters, which prove nothing; the scenario "
                    "\"controlled\" has others");
            bench.step("The DUT sends a broadcast");
            constexpr auto everyone = IpAddress::v4(0xffffffff);
            const auto port = bench.fresh_port();
            bench.dut.sends(everyone, port);
            bench.inspect(udp_from_dut(everyone, port)
                              .sent_anywhere()
                              .with(Deth::q_key, link.q_key)
                              .with(Lrh::sl, link.sl)
                              .with(Grh::traffic_class, link.traffic_class)
                              .with(Grh::flow_label, link.flow_label)
                              .with(Grh::hop_limit, link.hop_limit),
                          within(3s));
        },
};

}  // namespace ipoib::conformance
