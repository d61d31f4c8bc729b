// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/rfc4392/limited_dut.hpp"

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
            (void)answer_of_limited_dut(bench);
            bench.step("A limited member sends it unicast");
            bench.control();
            bench.send(echo_request().with(Bth::p_key, limited_p_key(bench.link().p_key)));
            bench.forbid(echo_reply().sent_anywhere(), within(1s));
        },
};

}  // namespace ipoib::conformance
