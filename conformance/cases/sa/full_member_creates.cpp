// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case only_full_members_create{
    .id = "IPOIB-4392-1.3.2.1-INV-001",
    .title = "Only a join with the FullMember bit creates a group",
    .checks = {&rfc4392::creation_needs_full_member},
    .pass_if =
        "the SA refuses a group that does not exist to a NonMember, a SendOnlyNonMember and to who asks for both",
    .tags = {"sa"},
    .impact = Impact::link,
    .subject = Subject::sa,
    .steps =
        [](Bench& bench) {
            const auto ask = [&](const Bytes<McMemberRecord>& record, JoinState state) {
                auto request = record;
                return bench.sa.ask_to_join(request.set(McMemberRecord::join_state, static_cast<std::uint8_t>(state)),
                                            bench.sa.creation_mask());
            };
            for (const auto state : {JoinState::non_member, JoinState::send_only_non_member,
                                     JoinState::non_member | JoinState::send_only_non_member}) {
                const auto record = bench.sa.new_group_record();
                bench.step("A join of a missing group with JoinState " + std::to_string(static_cast<int>(state)));
                bench.sa.require_refusal(ask(record, state));
                bench.require(!bench.sa.group(record[McMemberRecord::mgid]), "no new group", "the group was created");
                bench.step("The same with the FullMember bit");
                bench.precondition(ask(record, state | JoinState::full_member).is_ok(), "the SA creates the group");
            }
        },
};

}  // namespace ipoib::conformance
