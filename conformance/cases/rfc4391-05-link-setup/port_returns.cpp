// SPDX-License-Identifier: GPL-2.0-or-later
// A port that was gone, or its P_Key, and is there again: the link begins anew. IBTA Vol 1, 11.6.3.
#include "conformance/cases/link_again.hpp"

namespace ipoib::conformance {
const Case link_begins_anew_with_its_port{
    .id = "IPOIB-4391-5-VAL-008",
    .title = "The broadcast group is joined again when the port's link was down",
    .checks = {&rfc4391::broadcast_full_member_join},
    .pass_if =
        "after its port's link was down and is up again the DUT is FullMember of the broadcast group, and answers who "
        "asks for its address",
    .tags = {"sa", "broadcast", "flap", "arp"},
    .impact = Impact::link,
    .needs = Ability::trusted_sa | Ability::fabric_control | Ability::see_all,
    .lasts_at_most = 100s,
    .steps =
        [](Bench& bench) {
            const auto port = port_of_dut(bench);
            begin_on_the_link(bench);
            bench.step("Its port's link goes down, and comes up again");
            bench.fabric.change(SetPort{port, false});
            bench.pass_time(1s);
            bench.fabric.change(SetPort{port, true});
            require_link(bench);
        },
};

const Case link_begins_anew_with_its_p_key{
    .id = "IPOIB-4391-5-VAL-009",
    .title = "The link is used again when its P_Key was gone from the port's table",
    .checks = {&rfc4391::broadcast_full_member_join, &rfc4391::ud_same_partition_and_qkey},
    .pass_if =
        "while the P_Key is not in the port's table the DUT sends nothing with it; when it is there again the DUT is "
        "FullMember of the broadcast group, and answers who asks for its address",
    .tags = {"sa", "broadcast", "pkey", "arp"},
    .impact = Impact::link,
    .needs = Ability::trusted_sa | Ability::fabric_control | Ability::see_all,
    .lasts_at_most = 100s,
    .steps =
        [](Bench& bench) {
            const auto port = port_of_dut(bench);
            const auto p_key = static_cast<std::uint16_t>(bench.link().p_key | full_membership);
            begin_on_the_link(bench);
            bench.step("The P_Key goes, and comes again");
            bench.fabric.change(SetPKey{port, p_key, false});
            bench.pass_time(2s);
            bench.same_step("While it is gone", rfc4391::ud_same_partition_and_qkey);
            if (bench.dut->can("send")) {
                const auto udp_port = bench.fresh_port();
                for (int i = 0; i < 3; ++i) {
                    bench.dut.tries_to_send(IpAddress::v4(0xffffffff), udp_port);
                    bench.pass_time(500ms);
                }
                // A stack may be on the link of another P_Key meanwhile, or a limited member of this partition.
                const auto with_it =
                    udp_from_dut(IpAddress::v4(0xffffffff), udp_port)
                        .sent_anywhere()
                        .such_that("with the P_Key that is gone", [](const Packet& p, const Situation& s) {
                            return p.bth && p.bth[Bth::p_key] == (s.link.p_key | full_membership);
                        });
                bench.require(bench.count(with_it) == 0, "nothing with a P_Key that the port does not have",
                              "a broadcast with it");
            }
            bench.step("It is there again", rfc4391::broadcast_full_member_join);
            bench.fabric.change(SetPKey{port, p_key});
            require_link(bench);
        },
};

}  // namespace ipoib::conformance
