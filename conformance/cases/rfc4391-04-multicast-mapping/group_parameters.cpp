// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case group_has_parameters_of_its_own{
    .id = "IPOIB-4391-4.1-VAL-003",
    .title = "Multicast packets carry TClass, FlowLabel and HopLimit of their own group",
    .checks = {&rfc4391::multicast_parameters_of_group},
    .pass_if =
        "datagrams for a group that the administrator set up with another TClass, FlowLabel and HopLimit than the "
        "broadcast group have those, as a sender's and as a member's. NA where the DUT joins only what is like the "
        "broadcast group",
    .tags = {"sa", "egress", "ipv4", "ipv6"},
    .impact = Impact::link,
    .needs = Ability::see_all,
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
            const auto mgid = bench.mgid_of(group);
            const bool is_set_up = bench.fabric.can_change(SetGroup{
                .mgid = mgid, .flow_label = flow_label, .traffic_class = traffic_class, .hop_limit = hop_limit});
            // Who creates a group gives it its parameters, too.
            if (!is_set_up) {
                const auto record = bench.sa.new_group_record()
                                        .set(McMemberRecord::mgid, mgid)
                                        .set(McMemberRecord::flow_label, flow_label)
                                        .set(McMemberRecord::traffic_class, traffic_class)
                                        .set(McMemberRecord::hop_limit, hop_limit);
                const auto answer = bench.sa.ask_to_join(record, bench.sa.creation_mask());
                if (!answer.is_answered || answer.status != 0)
                    bench.not_applicable("the SA makes no group with parameters of its own");
            }
            using component = McMemberRecord::component;
            const auto like_broadcast =
                join_of(mgid).such_that("that says what its parameters are", [](const Packet& p, const Situation&) {
                    return (p.sa[SaHeader::component_mask] &
                            (component::traffic_class | component::flow_label | component::hop_limit)) != 0;
                });
            const auto inspect = [&] {
                const auto port = bench.fresh_port();
                const auto datagram = udp_from_dut(group, port).sent_anywhere();
                bench.dut.sends(group, port);
                if (!bench.happens(datagram, within(3s))) bench.dut.sends(group, port);
                if (!bench.happens(datagram, within(3s)) && bench.count(like_broadcast) != 0)
                    bench.not_applicable(
                        "the DUT asks to join the group with the broadcast group's parameters, which the SA refuses");
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
