// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"
#include "protocol/wire/notice.hpp"

namespace ipoib::conformance {
namespace {

/// What an SA would report, sent to it.
fabric::SaRequest forged(Method method, std::uint16_t trap_number, const Gid& mgid, const fabric::PortFacts& sender) {
    const auto notice = notice_of_gid(trap_number, mgid, sender.sm_lid, sender.gid);
    return {.method = method, .attribute = attribute::notice, .record = {notice.octets.begin(), notice.octets.end()}};
}

}  // namespace

const Case subscriptions_are_ones_own{
    .id = "IPOIB-4392-1.3.2.3-INV-001",
    .title = "What another port subscribes to, ends or reports changes nothing of what a subscriber is told",
    .checks = {&rfc4392::group_trap_reports},
    .pass_if =
        "after another port has subscribed to the same trap and ended that, and to forty others, the subscriber hears "
        "of a new group; of a group that only the other port has reported it hears nothing",
    .tags = {"sa", "trap", "spoof", "exhaustion", "tenant"},
    .impact = Impact::link,
    .needs = Ability::two_ports | Ability::reports,
    .subject = Subject::sa,
    .lasts_at_most = 60s,
    .steps =
        [](Bench& bench) {
            using namespace trap;
            auto& stranger = bench.tester.second();
            const auto is_told_of_new_group = [&] {
                const auto group = bench.sa.join(bench.mgid_of(bench.fresh_group4()), JoinState::full_member).mgid;
                return bench.sa.reports(multicast_group_created, group, within(2s));
            };
            bench.step("The tester subscribes to trap 66, and is told of a new group");
            bench.precondition(bench.sa.subscribe(multicast_group_created).is_ok(), "the SA takes the subscription");
            bench.precondition(is_told_of_new_group(), "a report of trap 66");
            bench.step("Another port subscribes to the same, and ends that");
            bench.precondition(stranger.subscribe(multicast_group_created).is_ok(), "the SA takes the subscription");
            (void)stranger.unsubscribe(multicast_group_created);
            bench.require(is_told_of_new_group(), "a report of trap 66", "none");
            bench.step("It subscribes to forty others");
            constexpr std::uint16_t first_of_vendors = 0x1000, many = 40;
            std::uint16_t taken = 0;
            while (taken < many && stranger.subscribe(first_of_vendors + taken).is_ok()) ++taken;
            bench.note("of another port the SA took " + std::to_string(taken) + " further subscriptions");
            bench.require(is_told_of_new_group(), "a report of trap 66", "none");
            bench.step("It reports a group that nobody has created");
            const auto invented = bench.mgid_of(bench.fresh_group4());
            const auto facts = bench.tester.port();
            (void)stranger.ask(forged(Method::report, multicast_group_created, invented, facts));
            (void)stranger.ask(forged(Method::trap, multicast_group_created, invented, facts));
            bench.require(!bench.sa.reports(multicast_group_created, invented, within(1s)), "no report",
                          "a report of trap 66 with " + text(invented));
        },
};

}  // namespace ipoib::conformance
