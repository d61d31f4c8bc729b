// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case limited_member_sends_its_own_p_key{
    .id = "IPOIB-4392-4-VAL-002",
    .title = "A limited member of the partition sends unicast with the P_Key of its port's table",
    .checks = {&rfc4392::unicast_keys_of_broadcast_group},
    .pass_if =
        "when its port has become a limited member of the partition, the DUT's answer to who asks for its address "
        "carries the P_Key without the membership bit. NA where it does not speak as one",
    .tags = {"pkey", "arp", "nd"},
    .impact = Impact::link,
    .needs = Ability::any_frame | Ability::see_all | Ability::fabric_control,
    .dut_can = {"up", "down"},
    .in_both_families = true,
    .lasts_at_most = 80s,
    .steps =
        [](Bench& bench) {
            const auto port = port_of_dut(bench);
            const auto full = static_cast<std::uint16_t>(bench.link().p_key | full_membership);
            const auto limited = static_cast<std::uint16_t>(full & ~full_membership);
            bench.step("The DUT's port becomes a limited member of the partition");
            bench.dut->down();
            bench.fabric.change(SetPKey{port, full, false});
            bench.fabric.change(SetPKey{port, limited});
            bench.dut.begins_to_come_up();
            bench.step("The tester, a full member, asks it");
            const auto question = bench.address_request_to_group();
            const auto reply = address_reply().sent_anywhere();
            bench.send_until(question, reply, within(5s));
            if (!bench.happens(reply, within(0ms)))
                bench.not_applicable("the DUT does not answer as a limited member of the partition");
            bench.inspect(reply.with(Bth::p_key, limited), within(0ms));
        },
};

}  // namespace ipoib::conformance
