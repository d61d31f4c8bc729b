// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case unicast_has_the_p_key_of_multicast{
    .id = "IPOIB-4392-4-VAL-001",
    .title = "A queue pair sends unicast with the P_Key of its port's table that it sends multicast with",
    .checks = {&rfc4392::unicast_keys_of_broadcast_group},
    .pass_if =
        "the P_Key of an echo reply names the link's partition and, from the queue pair that sends to groups, has the "
        "same membership bit",
    .tags = {"pkey", "ipv4", "ipv6"},
    .needs = Ability::see_all,
    .dut_can = {"send"},
    .in_both_families = true,
    .lasts_at_most = 20s,
    .steps =
        [](Bench& bench) {
            const auto p_key = bench.link().p_key;
            const auto is_of_link = [p_key](std::uint16_t found, auto&) { return is_same_partition(found, p_key); };
            const auto queue_pair_of = [](const Packet& packet) { return packet.deth; };
            bench.step("An echo reply");
            bench.control();
            bench.send(echo_request());
            const auto reply = echo_reply().sent_anywhere();
            bench.inspect(reply.where(Bth::p_key, is_of_link, "of the partition " + hex(p_key, 4)), within(2s));
            const auto unicast = bench.obtain<Bth>(reply, within(0ms));
            const auto from = bench.obtain<Deth>(reply, within(0ms), queue_pair_of);
            bench.step("A datagram to a group");
            const auto group = bench.fresh_group();
            const auto port = bench.fresh_port();
            bench.sa.join(group);
            bench.dut.sends(group, port);
            const auto datagram = udp_from_dut(group, port).sent_anywhere();
            const auto multicast = bench.obtain<Bth>(datagram, within(5s));
            const auto from_too = bench.obtain<Deth>(datagram, within(0ms), queue_pair_of);
            if (from[Deth::src_qp] != from_too[Deth::src_qp])
                return bench.note("the DUT sends unicast and multicast from different queue pairs");
            // A queue pair has one index of the table, which has a partition as full or as limited member's.
            bench.require_field(unicast, Bth::p_key, multicast[Bth::p_key]);
        },
};

}  // namespace ipoib::conformance
