// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case join_states_add_up{
    .id = "IPOIB-4392-1.3.1.1-VAL-001",
    .title = "The join states of a port add up, and each can be left by itself",
    .checks = {&rfc4392::join_state_union},
    .pass_if =
        "who joined as FullMember and as SendOnlyNonMember can leave both at once, and is a FullMember still when it "
        "leaves the other alone",
    .tags = {"sa"},
    .impact = Impact::link,
    .subject = Subject::sa,
    .steps =
        [](Bench& bench) {
            constexpr auto both = JoinState::full_member | JoinState::send_only_non_member;
            bench.step("A FullMember joins as SendOnlyNonMember too, and leaves as both");
            const auto group = bench.mgid_of(bench.fresh_group4());
            bench.sa.join(group, JoinState::full_member);
            bench.sa.join(group, JoinState::send_only_non_member);
            bench.sa.require_grant(bench.sa.ask_to_leave(group, both));

            bench.step("The same, but it leaves as SendOnlyNonMember first");
            const auto other = bench.mgid_of(bench.fresh_group4());
            bench.sa.join(other, JoinState::full_member);
            bench.sa.join(other, JoinState::send_only_non_member);
            bench.sa.require_grant(bench.sa.ask_to_leave(other, JoinState::send_only_non_member));
            bench.require(bench.sa.group(other).has_value(), "the group that it is a FullMember of", "no group");
            bench.sa.require_grant(bench.sa.ask_to_leave(other, JoinState::full_member));
        },
};

}  // namespace ipoib::conformance
