// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case unattached_mgid_is_discarded{
    .id = "IPOIB-UDMC-INV-002",
    .title = "A packet with the right MLID and another MGID is discarded",
    .checks = {&udmc::unregistered_mgid_discarded},
    .pass_if =
        "an ARP request to the broadcast group's MLID with the MGID of a group that the DUT is not in is not answered",
    .tags = {"mgid", "hca", "arp"},
    .needs = Ability::any_frame,
    .steps =
        [](Bench& bench) {
            bench.step("An ARP request to the broadcast group is answered");
            bench.send(arp_request());
            bench.precondition(arp_reply(), within(2s));
            bench.step("The same with the MGID of a group that the DUT is not in");
            bench.control();
            bench.send(arp_request().with(Grh::dgid, bench.mgid_of(bench.fresh_group4())));
            bench.forbid(arp_reply(), within(1s));
        },
};

}  // namespace ipoib::conformance
