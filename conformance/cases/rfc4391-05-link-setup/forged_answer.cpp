// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"
#include "protocol/build/management.hpp"

namespace ipoib::conformance {

const Case forged_answers_are_not_believed{
    .id = "IPOIB-4391-5-INV-006",
    .title = "What another port answers to the join of the broadcast group is not adopted",
    .checks = {&rfc4391::adopts_broadcast_parameters},
    .pass_if =
        "an answer to the DUT's join, right in all but the port that it comes from, with another TClass and FlowLabel, "
        "comes before the SA's: what the DUT then sends to all has the SA's",
    .tags = {"sa", "broadcast", "spoof", "tenant"},
    .impact = Impact::fabric,
    .needs = Ability::any_frame | Ability::see_all | Ability::fabric_control,
    .dut_can = {"send", "up", "down"},
    .lasts_at_most = 100s,
    .steps =
        [](Bench& bench) {
            const auto& link = bench.link();
            const auto broadcast = link.broadcast_gid();
            const auto join = join_of(broadcast).sent_anywhere();
            const auto sent_to_all = [&] {
                constexpr auto everyone = IpAddress::v4(0xffffffff);
                const auto port = bench.fresh_port();
                bench.dut.sends(everyone, port);
                return udp_from_dut(everyone, port)
                    .sent_anywhere()
                    .with(Grh::traffic_class, link.traffic_class)
                    .with(Grh::flow_label, link.flow_label);
            };
            // What is wrong without an attack is judged elsewhere.
            bench.step("The DUT uses what the SA has told");
            bench.control();
            const auto before = bench.obtain<Grh>(sent_to_all(), within(5s));
            bench.precondition(
                before[Grh::flow_label] == link.flow_label && before[Grh::traffic_class] == link.traffic_class,
                "TClass and FlowLabel are those of the broadcast group");
            bench.step("The tester answers the DUT's join before the SA does");
            bench.dut->down();
            bench.fabric.change(SetSa{.delay = 2s});
            bench.dut.begins_to_come_up();
            const auto transaction = bench.obtain<Mad>(join, within(30s))[Mad::transaction_id];
            bench.send({"answer to the DUT's join of the broadcast group", [=](const Situation& s) {
                            auto forged = s.link;
                            forged.traffic_class ^= 0x10;
                            forged.flow_label ^= 0x00321;
                            return build::mc_member(s.tester, s.dut, Method::get_resp, transaction,
                                                    build::broadcast_record(s.dut, forged), 0)
                                .set(Bth::p_key, s.link.p_key);
                        }});
            bench.pass_time(1s);
            bench.fabric.change(SetSa{.resets = true});
            bench.dut.comes_up();
            bench.control();
            bench.inspect(sent_to_all(), within(5s));
        },
};

}  // namespace ipoib::conformance
