// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case forged_refusals_keep_nobody_away{
    .id = "IPOIB-4391-5-INV-006",
    .title = "What another port answers in the SA's place keeps no interface off its link",
    .checks = {&rfc4391::broadcast_full_member_join},
    .pass_if =
        "another port refuses what the DUT asks while the SA is silent: the DUT is FullMember of the broadcast group a "
        "minute after the SA answers again at the latest. Whether it believes the other port is noted: no text says "
        "whom a requester has to believe",
    .tags = {"sa", "broadcast", "spoof", "tenant"},
    .impact = Impact::fabric,
    .needs = Ability::any_frame | Ability::see_all | Ability::trusted_sa | Ability::fabric_control,
    .dut_can = {"up", "down"},
    .lasts_at_most = 160s,
    .steps =
        [](Bench& bench) {
            const auto broadcast = bench.link().broadcast_gid();
            const auto request = request_about(broadcast).sent_anywhere();
            bench.step("The DUT comes up while the SA is silent");
            bench.control();
            bench.dut->down();
            bench.pass_time(1s);
            bench.precondition(bench.sa.join_state_of_dut(broadcast) == 0, "the DUT has left the broadcast group");
            bench.fabric.change(SetSa{.is_silent = true});
            bench.dut.begins_to_come_up();
            bench.step("Another port refuses what it asks the SA");
            bench.precondition(bench.happens(request, within(30s)), "the DUT asks for the broadcast group");
            const auto transaction = bench.obtain<Mad>(request, within(0ms))[Mad::transaction_id];
            bench.send({"refusal of the DUT's request", [=](const Situation& s) {
                            return build::mc_member(s.tester, s.dut, Method::get_resp, transaction,
                                                    build::broadcast_record(s.dut, s.link), 0)
                                .set(Mad::status, sa_status::denied)
                                .set(Bth::p_key, s.link.p_key);
                        }});
            bench.step("It asks again");
            const auto is_same = [transaction](const Packet& packet, const Situation&) {
                return packet.mad[Mad::transaction_id] == transaction;
            };
            const bool insists = bench.happens(request.such_that("in the same transaction", is_same), within(5s));
            bench.note(insists ? "the DUT goes on asking: it does not take the refusal for the SA's"
                               : "the DUT does not ask again in that transaction: it may take the refusal of any port "
                                 "that knows its TransactionID for the SA's");
            bench.step("The SA answers again");
            bench.fabric.change(SetSa{.resets = true});
            bench.require(bench.sa.has_dut_as_full_member(broadcast, within(60s)), "FullMember of " + text(broadcast),
                          "not at the SA");
        },
};

}  // namespace ipoib::conformance
