// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case mlid_of_deleted_group_is_forgotten{
    .id = "IPOIB-4392-1.3.2.3-VAL-001",
    .title = "The MLID of a group that was deleted is not used any more",
    .checks = {&rfc4392::deleted_group_mlid},
    .pass_if = "once the group is gone the DUT's datagrams for it are not sent to its MLID",
    .tags = {"sa", "egress", "trap", "ipv4", "ipv6"},
    .impact = Impact::link,
    .needs = Ability::see_all,
    .dut_can = {"send"},
    .in_both_families = true,
    .lasts_at_most = 20s,
    .steps =
        [](Bench& bench) {
            const auto group = bench.fresh_group();
            const auto port = bench.fresh_port();
            bench.step("The DUT sends to a group of the tester");
            const auto joined = bench.sa.join(group);
            bench.dut.is_seen_to_send(group, port);
            bench.step("The tester leaves; the SA deletes the group");
            bench.sa.leave(joined.mgid);
            if (bench.sa.group(joined.mgid)) bench.not_applicable("somebody else keeps the group");
            bench.pass_time(2s);
            bench.control();
            bench.dut.sends(group, port);
            const auto stray =
                udp_from_dut(group, port)
                    .sent_anywhere()
                    .such_that("to the MLID of the deleted group", [mlid = joined.mlid()](const Packet& p, auto&) {
                        return p.lrh && p.lrh[Lrh::dlid] == mlid;
                    });
            if (bench.happens(stray, within(2s)) && bench.sa.group(joined.mgid))
                bench.not_applicable("the DUT has created the group anew");
            bench.forbid(stray, within(1s));
        },
};

}  // namespace ipoib::conformance
