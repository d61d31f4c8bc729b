// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case memberships_are_ones_own{
    .id = "IPOIB-IBA-15.2.5.17-INV-004",
    .title = "A port neither changes nor ends what another port has joined",
    .checks = {&iba::own_membership_protected},
    .pass_if = "the SA refuses a leave and a further join in the name of a port that joined by itself; the group stays",
    .tags = {"sa", "proxy", "tenant"},
    .impact = Impact::link,
    .needs = Ability::two_ports,
    .subject = Subject::sa,
    .lasts_at_most = 20s,
    .steps =
        [](Bench& bench) {
            auto& stranger = bench.tester.first();
            auto& owner = bench.tester.second();
            const auto group = owner.join(bench.mgid_of(bench.fresh_group4()), JoinState::full_member);
            auto record = group.record;
            record.set(McMemberRecord::port_gid, owner.self().gid)
                .set(McMemberRecord::join_state, static_cast<std::uint8_t>(JoinState::non_member));
            bench.step("Another port asks for a join state in its name");
            bench.sa.require_refusal(stranger.ask_to_join(record, McMemberRecord::component::join));
            bench.step("Another port leaves in its name");
            bench.sa.require_refusal(stranger.ask_to_remove(group.mgid, owner.self().gid, JoinState::full_member));
            bench.require(bench.sa.group(group.mgid).has_value(), "the group as it was", "no group");
            bench.step("The port leaves by itself");
            bench.precondition(owner.ask_to_leave(group.mgid, JoinState::full_member).is_ok(),
                               "the SA lets the port leave");
            bench.step("Another port joins for one that is no member (ProxyJoin)");
            bench.note(
                "of a port that is no member: " +
                status_text(stranger.ask_to_join(record.set(McMemberRecord::join_state, 1), bench.sa.creation_mask())));
            (void)stranger.ask_to_remove(group.mgid, owner.self().gid, JoinState::full_member);
        },
};

}  // namespace ipoib::conformance
