// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/rfc4392/limited_dut.hpp"

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
            const auto answer = answer_of_limited_dut(bench);
            bench.inspect(answer.with(Bth::p_key, limited_p_key(bench.link().p_key)), within(0ms));
        },
};

}  // namespace ipoib::conformance
