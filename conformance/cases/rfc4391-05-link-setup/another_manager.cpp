// SPDX-License-Identifier: GPL-2.0-or-later
// A subnet manager that takes over from another. IBTA Vol 1, 14.4.1 and 14.2.5.6 (MasterSMLID).
#include "conformance/cases/link_again.hpp"
#include "conformance/cases/rfc4391-09-address-mapping/played_peer.hpp"

namespace ipoib::conformance {

const Case another_manager_takes_over{
    .id = "IPOIB-4391-5-VAL-013",
    .title = "The link goes on when another subnet manager has taken over, at a LID of its own",
    .checks = {&rfc4391::broadcast_full_member_join, &rfc4391::receiver_full_member_join, &rfc4391::ud_transport,
               &rfc4391::lid_by_iba_methods},
    .pass_if =
        "when a subnet manager without the memberships of before has taken over at another LID, the DUT is FullMember "
        "of the broadcast group and of a program's group at its administrator, is reached, and sends to a peer whose "
        "path it has to ask for",
    .tags = {"sa", "broadcast", "reregister", "ipv4", "ipv6"},
    .impact = Impact::fabric,
    .needs = Ability::trusted_sa | Ability::fabric_control | Ability::see_all,
    .dut_can = {"join", "send"},
    .in_both_families = true,
    .lasts_at_most = 150s,
    .steps =
        [](Bench& bench) {
            begin_on_the_link(bench);
            const auto group = bench.fresh_group();
            bench.step("A program joins a group");
            bench.dut->join(group);
            bench.precondition(bench.sa.has_dut_as_full_member(group, within(5s)), "the DUT is FullMember");
            const auto sends_to_new_peer = [&](const Gid& gid) {
                return sends_at_last(bench, {bench.fresh_neighbour(), gid, bench.situation().tester.qpn});
            };
            const auto first = bench.fabric.peer_never_seen();
            if (first) {
                bench.step("It sends to a peer that it does not know");
                bench.precondition(sends_to_new_peer(*first), "a datagram to the peer");
            }
            bench.control();
            bench.step("Another subnet manager takes over", rfc4391::broadcast_full_member_join);
            bench.fabric.change(SetManager{.takes_over = true});
            bench.tester.enter_link_again();
            if (!require_found(bench) || !require_link(bench)) return;
            bench.same_step("The program's group", rfc4391::receiver_full_member_join);
            bench.require(bench.sa.has_dut_as_full_member(group, within(30s)), "FullMember of " + text(group),
                          "not at the SA");
            bench.step("The tester sends to it", rfc4391::ud_transport);
            bench.require_traffic(within(20s));
            bench.step("It sends to another peer that it does not know", rfc4391::lid_by_iba_methods);
            const auto second = first ? bench.fabric.peer_never_seen() : std::nullopt;
            if (!second) return bench.note("paths: the fabric cannot give the tester another GID");
            bench.require(sends_to_new_peer(*second), "a datagram to the peer", "none");
        },
};

}  // namespace ipoib::conformance
