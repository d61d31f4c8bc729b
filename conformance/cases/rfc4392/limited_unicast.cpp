// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case limited_members_do_not_hear_each_other{
    .id = "IPOIB-4392-1.2-INV-002",
    .title = "A limited member of the partition takes no unicast of another limited member",
    .checks = {&rfc4392::limited_members_kept_apart},
    .pass_if =
        "when the DUT's port has become a limited member, echo requests with the P_Key of a limited member are not "
        "answered; those of a full member are. NA where the DUT does not speak as a limited member",
    .tags = {"pkey", "hca", "tenant", "ipv4", "ipv6"},
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
            const auto question = bench.address_request_to_group();
            const auto known = address_reply().sent_anywhere();
            bench.send_until(question, known, within(5s));
            if (!bench.happens(known, within(0ms)))
                bench.not_applicable("the DUT does not answer as a limited member of the partition");
            bench.step("A limited member sends it unicast");
            bench.control();
            bench.send(echo_request().with(Bth::p_key, limited));
            bench.forbid(echo_reply().sent_anywhere(), within(1s));
        },
};

}  // namespace ipoib::conformance
