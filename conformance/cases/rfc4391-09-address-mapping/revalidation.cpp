// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/rfc4391-09-address-mapping/played_peer.hpp"

namespace ipoib::conformance {

const Case neighbours_are_asked_again{
    .id = "IPOIB-4391-9.4-VAL-001",
    .title = "A neighbour that was not heard of for a while is asked again before its link-layer address is used on",
    .checks = {&rfc4391::arp_cache_revalidation},
    .pass_if = "after its entries have aged the DUT asks for the tester's link-layer address again",
    .tags = {"arp", "nd", "ipv4", "ipv6"},
    .needs = Ability::see_all,
    .dut_can = {"timers", "send"},
    .in_both_families = true,
    .lasts_at_most = 40s,
    .steps =
        [](Bench& bench) {
            constexpr unsigned reachable = 2;
            const auto tester = bench.situation().tester_address();
            const auto port = bench.fresh_port();
            bench.dut->timers(reachable, 0, 0);
            bench.step("The DUT knows the tester's link-layer address");
            bench.dut.sends(tester, port);
            bench.precondition(udp_from_dut(tester, port), within(5s));
            bench.step("After a while without traffic it sends again");
            bench.pass_time(stated(std::chrono::seconds{3 * reachable}));
            bench.dut.sends(tester, port);
            // Linux sends on and asks meanwhile: up to 5 s later, then up to three times.
            bench.require(address_request_for(tester).sent_anywhere(), within(15s));
        },
};

const Case silent_neighbours_are_given_up{
    .id = "IPOIB-4391-9.4-VAL-003",
    .title = "A neighbour that does not answer any more is not sent to for ever",
    .checks = {&rfc4391::arp_cache_revalidation},
    .pass_if =
        "when its entries have aged, and a peer says nothing any more, the DUT has no way to it within a minute: what "
        "it is told to send is not sent",
    .tags = {"arp", "nd", "ipv4", "ipv6"},
    .needs = Ability::any_frame | Ability::see_all,
    .dut_can = {"timers", "send"},
    .in_both_families = true,
    .lasts_at_most = 160s,
    .steps =
        [](Bench& bench) {
            constexpr unsigned reachable = 2;
            const PlayedPeer peer{bench.fresh_neighbour(), bench.situation().tester.gid, bench.situation().tester.qpn};
            bench.dut->timers(reachable, 0, 0);
            bench.step("The DUT sends to a peer");
            tells_of(bench, peer);
            (void)datagram_to(bench, peer);
            bench.step("The peer says nothing any more, and the DUT sends on");
            bench.pass_time(stated(std::chrono::seconds{3 * reachable}));
            // Linux asks up to 5 s later, three times, and once more three times in the group. A few may be lost.
            constexpr int patience = 60, for_good = 3;
            int quiet = 0;
            for (int second = 0; second < patience && quiet < for_good; ++second) {
                const auto port = bench.fresh_port();
                bench.dut.tries_to_send(peer.address, port);
                bench.pass_time(1s);
                quiet = bench.count(udp_from_dut(peer.address, port).sent_anywhere()) == 0 ? quiet + 1 : 0;
            }
            bench.control();
            bench.require(quiet == for_good, "nothing for a peer that has said nothing for a minute",
                          "what is sent goes to where the peer was");
        },
};

}  // namespace ipoib::conformance
