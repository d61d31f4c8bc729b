// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {
namespace {

/// The SA's words from another port.
Message forged_report(std::uint16_t number, const Gid& mgid) {
    return {"Report of trap " + std::to_string(number) + " with " + text(mgid), [=](const Situation& s) {
                return build::group_report(s.tester, s.dut, number, mgid).set(Bth::p_key, s.link.p_key);
            }};
}

}  // namespace

const Case forged_reports_end_no_membership{
    .id = "IPOIB-4392-4.2.5-INV-001",
    .title = "What another port reports of groups takes no interface off its link",
    .checks = {&rfc4392::stays_in_broadcast_group},
    .pass_if =
        "another port reports that the broadcast group, all groups of the DUT's link and a group of a program are "
        "deleted: the DUT stays a FullMember of the broadcast group, and answers. Whether it answers the reports is "
        "noted",
    .tags = {"mad", "trap", "spoof", "tenant", "ipv4", "ipv6"},
    .needs = Ability::any_frame | Ability::trusted_sa,
    .in_both_families = true,
    .lasts_at_most = 40s,
    .steps =
        [](Bench& bench) {
            const auto broadcast = bench.link().broadcast_gid();
            bench.step("The DUT is on its link");
            bench.control();
            bench.precondition(bench.sa.has_dut_as_full_member(broadcast, within(5s)), "the DUT is FullMember");
            bench.step("Another port reports that groups are deleted, and created");
            bench.judge_leaving();
            const auto all = bench.mgid_of(bench.all_nodes(bench.situation().family));
            for (const auto& mgid : {broadcast, all})
                for (const auto number : {trap::multicast_group_deleted, trap::multicast_group_created})
                    bench.send(forged_report(number, mgid));
            bench.send(forged_report(trap::multicast_group_deleted, broadcast));
            const Expectation answer{"ReportResp", [](const Packet& packet, const Situation&) {
                                         return packet.mad && packet.mad[Mad::method] == Method::report_resp;
                                     }};
            bench.note(bench.happens(answer, within(1s)) ? "the DUT answers reports of a port that is not the SA's"
                                                         : "the DUT does not answer reports of a port that is not the "
                                                           "SA's");
            bench.require(bench.sa.has_dut_as_full_member(broadcast, within(10s)), "FullMember of " + text(broadcast),
                          "not at the SA");
            bench.require_traffic(within(10s));
        },
};

}  // namespace ipoib::conformance
