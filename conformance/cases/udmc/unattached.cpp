// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case unattached_mgid_is_discarded{
    .id = "IPOIB-UDMC-INV-002",
    .title = "A packet with the right MLID and another MGID is discarded",
    .checks = {&udmc::unregistered_mgid_discarded},
    .pass_if =
        "an ARP request to the broadcast group's MLID, or a Neighbour Solicitation to that of its group, with the MGID "
        "of a group that the DUT is not in is not answered",
    .tags = {"mgid", "hca", "arp", "nd", "ipv4", "ipv6"},
    .needs = Ability::any_frame,
    .in_both_families = true,
    .steps =
        [](Bench& bench) {
            bench.step("A question for its address to the group for that is answered");
            const auto question = bench.address_request_to_group();
            bench.send_until(question, address_reply(), within(2s));
            bench.precondition(address_reply(), within(0ms));
            bench.step("The same with the MGID of a group that the DUT is not in");
            bench.control();
            bench.send(question.with(Grh::dgid, bench.mgid_of(bench.fresh_group())));
            bench.forbid(address_reply(), within(1s));
        },
};

}  // namespace ipoib::conformance
