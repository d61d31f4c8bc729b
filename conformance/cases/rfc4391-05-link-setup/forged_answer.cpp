// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"
#include "protocol/build/management.hpp"

namespace ipoib::conformance {

const Case forged_answers_are_not_believed{
    .id = "IPOIB-4391-5-INV-006",
    .title = "What another port answers to the join of the broadcast group is not adopted",
    .checks = {&rfc4391::adopts_broadcast_parameters},
    .pass_if =
        "answers to the DUT's requests, right in all but the port that they come from, with another TClass and "
        "FlowLabel, come while the SA is silent: what the DUT sends to all afterwards has the SA's",
    .tags = {"sa", "broadcast", "spoof", "tenant"},
    .impact = Impact::fabric,
    .needs = Ability::any_frame | Ability::see_all | Ability::trusted_sa | Ability::fabric_control,
    .dut_can = {"send", "up", "down"},
    .lasts_at_most = 160s,
    .steps =
        [](Bench& bench) {
            const auto& link = bench.link();
            const auto broadcast = link.broadcast_gid();
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
            bench.step("The DUT comes up while the SA is silent");
            bench.dut->down();
            // What it leaves goes out first.
            bench.pass_time(1s);
            bench.fabric.change(SetSa{.is_silent = true});
            bench.dut.begins_to_come_up();
            const auto request = request_about(broadcast).sent_anywhere();
            const auto answer_to = [](std::uint64_t transaction) {
                return Message{"answer to the DUT's request", [=](const Situation& s) {
                                   auto forged = s.link;
                                   forged.traffic_class ^= 0x10;
                                   forged.flow_label ^= 0x00321;
                                   return build::mc_member(s.tester, s.dut, Method::get_resp, transaction,
                                                           build::broadcast_record(s.dut, forged), 0)
                                       .set(Bth::p_key, s.link.p_key);
                               }};
            };
            // Who is fooled by the answer to a query joins next.
            int answers = 0;
            for (constexpr int most = 3; answers < most; ++answers) {
                bench.step("The tester answers what the DUT asks the SA");
                if (!bench.happens(request, within(20s))) break;
                bench.send(answer_to(bench.obtain<Mad>(request, within(0ms))[Mad::transaction_id]));
            }
            bench.precondition(answers > 0, "the DUT asks for the broadcast group");
            bench.step("The SA answers again");
            bench.fabric.change(SetSa{.resets = true});
            // Who is fooled is up already, and never joins.
            bench.dut.begins_to_come_up();
            (void)bench.sa.has_dut_as_full_member(broadcast, within(30s));
            bench.dut.begins_to_come_up();
            bench.inspect(sent_to_all(), within(5s));
        },
};

}  // namespace ipoib::conformance
