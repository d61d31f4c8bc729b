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
    .lasts_at_most = 40s,
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
            bench.step("The same with MGIDs that differ in one bit, which stay MGIDs");
            bench.control();
            const auto right = question.make(bench.situation()).get<Grh>()[Grh::dgid];
            constexpr unsigned bits_behind_ff = 120;
            for (unsigned bit = 0; bit < bits_behind_ff; ++bit) {
                const auto other = bit < 64
                                       ? Gid::of(right.prefix(), right.interface_id() ^ std::uint64_t{1} << bit)
                                       : Gid::of(right.prefix() ^ std::uint64_t{1} << (bit - 64), right.interface_id());
                bench.send(question.with(Grh::dgid, other));
                bench.forbid(address_reply(), within(100ms));
            }
            bench.control();
        },
};

}  // namespace ipoib::conformance
