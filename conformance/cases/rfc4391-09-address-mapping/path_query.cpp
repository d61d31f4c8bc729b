// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case path_is_asked_for{
    .id = "IPOIB-4391-9.1.2-VAL-002",
    .title = "LID and rate of the path to a peer are found out before the first datagram",
    .checks = {&rfc4391::lid_by_iba_methods, &rfc4391::path_rate_before_data},
    .pass_if =
        "before its first datagram to a peer that it cannot know the DUT asks the SA for the path, in any of the ways "
        "that "
        "the SA offers; the datagram goes to the peer's LID",
    .tags = {"sa", "ipv4", "ipv6"},
    .needs = Ability::see_all,
    .dut_can = {"send"},
    .in_both_families = true,
    .lasts_at_most = 30s,
    .steps =
        [](Bench& bench) {
            const auto& tester = bench.situation().tester;
            const auto port = bench.fresh_port();
            const auto to = bench.fresh_neighbour();
            bench.step("A peer tells of itself, and the DUT sends to it: its LID", rfc4391::lid_by_iba_methods);
            const auto unknown = bench.fabric.peer_never_seen();
            const auto peer = unknown.value_or(tester.gid);
            const auto word_of_peer =
                address_request_from(to).with_either(ArpAddresses::sha_gid, LinkAddressOption::gid, peer);
            const auto datagram = udp_from_dut(to, port).sent_anywhere();
            bench.send(word_of_peer);
            bench.dut.sends(to, port);
            // Who takes no address from a request asks for it, and hears of it once more.
            if (!bench.happens(datagram, within(1s))) bench.send_until(word_of_peer, datagram, within(2s));
            bench.inspect(datagram.with(Lrh::dlid, tester.lid), within(1s));

            bench.same_step("The rate of the path", rfc4391::path_rate_before_data);
            constexpr std::uint8_t rate_of_1x = 2;
            const auto group = bench.sa.group(bench.link().broadcast_gid());
            if (!group || group->record[McMemberRecord::rate] == rate_of_1x)
                return bench.note("the DUT may be no faster than 1x, and then needs no rate");
            const bool is_asked = bench.comes_before(path_question_about(peer), datagram);
            if (!is_asked && !unknown)
                return bench.note("the DUT asks for no path; it may have kept the one that it knows of this peer");
            bench.require(is_asked, "a question to the SA for the path to " + text(peer) + " before the datagram",
                          "none");
        },
};

}  // namespace ipoib::conformance
