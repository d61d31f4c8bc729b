// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case broadcast_group_is_joined{
    .id = "IPOIB-4391-5-VAL-001",
    .title = "An interface that comes up joins the broadcast group as FullMember",
    .checks = {&rfc4391::broadcast_full_member_join, &rfc4391::broadcast_gid_format},
    .pass_if = "the DUT asks the SA to join the broadcast-GID with JoinState FullMember, and is a member afterwards",
    .tags = {"sa", "broadcast"},
    .needs = Ability::see_all | Ability::trusted_sa,
    .dut_can = {"up"},
    .begin = Begin::down,
    .lasts_at_most = 70s,
    .steps =
        [](Bench& bench) {
            const auto broadcast = bench.link().broadcast_gid();
            bench.step("The interface comes up, and asks for a broadcast group", rfc4391::broadcast_full_member_join);
            bench.dut.begins_to_come_up();
            constexpr auto everyone = IpAddress::v4(0xffffffff);
            bench.require(request_like(everyone), within(30s));
            bench.same_step("For which one", rfc4391::broadcast_gid_format);
            bench.require(request_like(everyone).where(
                              McMemberRecord::mgid,
                              [broadcast](const Gid& mgid, auto&) {
                                  // RFC 4391, 4.1: it may search in other scopes first.
                                  return Bytes<Mgid>{mgid.octets}.set(Mgid::scope, 2).octets ==
                                         Bytes<Mgid>{broadcast.octets}.set(Mgid::scope, 2).octets;
                              },
                              text(broadcast) + ", of any scope"),
                          within(0ms));
            bench.same_step("It joins", rfc4391::broadcast_full_member_join);
            bench.require(
                join_of(broadcast).where(
                    McMemberRecord::join_state, [](auto state, auto&) { return (state & 1) != 0; }, "FullMember"),
                within(30s));
            bench.step("It is a member of the group", rfc4391::broadcast_full_member_join);
            bench.dut.comes_up();
            const auto state = bench.sa.join_state_of_dut(broadcast);
            bench.require((state & 1) != 0, "FullMember at the SA", "JoinState " + std::to_string(state));
        },
};

}  // namespace ipoib::conformance
