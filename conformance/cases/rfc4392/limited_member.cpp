// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case limited_member_is_answered{
    .id = "IPOIB-4392-1.2-VAL-001",
    .title = "A full member of the partition speaks with limited members",
    .checks = {&rfc4392::limited_members_kept_apart},
    .pass_if = "a full member answers an echo request that carries the P_Key of a limited member",
    .tags = {"pkey", "hca", "ipv4", "ipv6"},
    .needs = Ability::any_frame,
    .in_both_families = true,
    .steps =
        [](Bench& bench) {
            const auto limited = limited_p_key(bench.link().p_key);
            bench.step("An ordinary echo request is answered");
            bench.control();
            bench.step("So is one from a limited member");
            bench.send(echo_request().with(Bth::p_key, limited));
            bench.require(echo_reply(), within(2s));
        },
};

}  // namespace ipoib::conformance
