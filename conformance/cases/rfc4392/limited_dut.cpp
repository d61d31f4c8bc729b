// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/rfc4392/limited_dut.hpp"

namespace ipoib::conformance {

const Case limited_member_sends_its_own_p_key{
    .id = "IPOIB-4392-4-VAL-002",
    .title = "A limited member of the partition sends with the P_Key of its port's table",
    .checks = {&rfc4392::unicast_keys_of_broadcast_group},
    .pass_if =
        "when its port has become a limited member of the partition, the DUT's answer to who asks for its address "
        "carries the P_Key without the membership bit, and so does what it sends to a group from the same queue pair. "
        "NA where it does not speak as one",
    .tags = {"pkey", "arp", "nd"},
    .impact = Impact::link,
    .needs = Ability::any_frame | Ability::see_all | Ability::fabric_control,
    .dut_can = {"up", "down"},
    .in_both_families = true,
    .lasts_at_most = 80s,
    .steps =
        [](Bench& bench) {
            const auto answer = answer_of_limited_dut(bench);
            const auto limited = limited_p_key(bench.link().p_key);
            const auto queue_pair_of = [](const Packet& packet) { return packet.deth; };
            const auto from = bench.obtain<Deth>(answer, within(0ms), queue_pair_of);
            bench.inspect(answer.with(Bth::p_key, limited), within(0ms));
            if (!bench.dut->can("send")) return;
            bench.step("It sends to a group");
            const auto group = bench.fresh_group();
            const auto port = bench.fresh_port();
            bench.sa.join(group);
            bench.dut.sends(group, port);
            const auto datagram = udp_from_dut(group, port).sent_anywhere();
            if (!bench.happens(datagram, within(5s))) return bench.note("its datagram to a group is not seen");
            const auto of_datagram = bench.obtain<Bth>(datagram, within(0ms));
            // A queue pair has one index of the table.
            if (from[Deth::src_qp] == bench.obtain<Deth>(datagram, within(0ms), queue_pair_of)[Deth::src_qp])
                bench.require_field(of_datagram, Bth::p_key, limited);
        },
};

}  // namespace ipoib::conformance
