// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

namespace {

using M = McMemberRecord;

/// A P_Key that no port here has.
constexpr std::uint16_t foreign_p_key = 0x8abc;
/// Groups of no IPoIB link: only the P_Key decides who may be in them.
constexpr Gid group_of(std::uint16_t number) { return Gid::of(0xff12123400000000, number); }

/// A join that would create such a group in the foreign partition.
Bytes<M> foreign_group(Bench& bench) {
    return bench.sa.new_group_record().set(M::mgid, group_of(bench.fresh_port())).set(M::p_key, foreign_p_key);
}

}  // namespace

const Case pkey_must_be_assigned{
    .id = "IPOIB-4391-5-INV-003",
    .title = "A port joins only in a partition that it has the P_Key of",
    .checks = {&rfc4391::pkey_assigned_to_port},
    .pass_if = "the SA refuses the tester a group of a partition that its port is not in, and grants one of its own",
    .tags = {"sa", "pkey"},
    .impact = Impact::link,
    .subject = Subject::sa,
    .steps =
        [](Bench& bench) {
            bench.step("A group in the tester's own partition");
            const auto own = bench.sa.new_group_record().set(M::mgid, group_of(bench.fresh_port()));
            bench.precondition(bench.sa.ask_to_join(own, bench.sa.creation_mask()).is_ok(), "the SA creates the group");
            bench.step("A group in a partition that the tester is not in");
            const auto record = foreign_group(bench);
            bench.sa.require_refusal(bench.sa.ask_to_join(record, bench.sa.creation_mask()));
        },
};

const Case pkey_is_looked_at_now{
    .id = "IPOIB-4391-5-INO-001",
    .title = "A port that loses a P_Key joins in its partition no more",
    .checks = {&rfc4391::pkey_assigned_to_port},
    .pass_if =
        "the SA grants the tester a group of a partition while it has the P_Key, and refuses it before and after",
    .tags = {"sa", "pkey"},
    .impact = Impact::link,
    .needs = Ability::fabric_control,
    .subject = Subject::sa,
    .steps =
        [](Bench& bench) {
            const PortName port{.guid = bench.tester.port().gid.interface_id()};
            const auto set = [&](bool is_there) {
                bench.fabric.change(SetPKey{port, foreign_p_key, is_there});
                bench.pass_time(1s);
            };
            const auto ask = [&] { return bench.sa.ask_to_join(foreign_group(bench), bench.sa.creation_mask()); };
            bench.step("Before the port has the P_Key");
            bench.sa.require_refusal(ask());
            bench.step("The port is given the P_Key");
            set(true);
            bench.precondition(ask().is_ok(), "the SA creates the group");
            bench.step("The P_Key is taken away");
            set(false);
            bench.sa.require_refusal(ask());
        },
};

}  // namespace ipoib::conformance
