// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case group_has_parameters_of_its_own{
    .id = "IPOIB-4391-4.1-VAL-003",
    .title = "Multicast packets carry TClass, FlowLabel and HopLimit of their own group",
    .checks = {&rfc4391::multicast_parameters_of_group},
    .pass_if =
        "datagrams for a group that the administrator set up with another TClass, FlowLabel and HopLimit than the "
        "broadcast group have those, as a sender's and as a member's",
    .tags = {"sa", "egress", "ipv4", "ipv6"},
    .impact = Impact::link,
    .needs = Ability::see_all | Ability::fabric_control,
    .dut_can = {"send"},
    .in_both_families = true,
    .lasts_at_most = 30s,
    .steps =
        [](Bench& bench) {
            const auto& link = bench.link();
            const auto group = bench.fresh_group();
            const auto flow_label = link.flow_label ^ 0x00753;
            const auto traffic_class = static_cast<std::uint8_t>(link.traffic_class ^ 0x40);
            const auto hop_limit = static_cast<std::uint8_t>(link.hop_limit ^ 0x11);
            bench.step("The administrator sets up a group");
            bench.fabric.change(SetGroup{.mgid = bench.mgid_of(group),
                                         .flow_label = flow_label,
                                         .traffic_class = traffic_class,
                                         .hop_limit = hop_limit});
            const auto inspect = [&] {
                const auto port = bench.fresh_port();
                const auto datagram = udp_from_dut(group, port).sent_anywhere();
                bench.dut.sends(group, port);
                if (!bench.happens(datagram, within(3s))) bench.dut.sends(group, port);
                bench.inspect(datagram.with(Grh::traffic_class, traffic_class)
                                  .with(Grh::flow_label, flow_label)
                                  .with(Grh::hop_limit, hop_limit),
                              within(3s));
            };
            bench.step("The DUT sends to it");
            inspect();
            if (!bench.dut->can("join")) return;
            bench.step("A program of the DUT joins it, and sends");
            bench.dut.joins(group);
            bench.pass_time(2s);
            inspect();
        },
};

}  // namespace ipoib::conformance
