// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"
#include "protocol/wire/path_record.hpp"

namespace ipoib::conformance {

namespace {

using P = PathRecord;

constexpr std::uint16_t limited_p_key = 0x0abc, full_p_key = limited_p_key | full_membership;

fabric::SaAnswer ask_for_path(Bench& bench, const Gid& from, const Gid& to) {
    const auto wanted = Bytes<P>{}
                            .set(P::sgid, from)
                            .set(P::dgid, to)
                            .set(P::p_key, full_p_key)
                            .set(P::reversible, true)
                            .set(P::number_of_paths, 1);
    return bench.sa.ask({.method = Method::get,
                         .attribute = attribute::path_record,
                         .component_mask = P::component::sgid | P::component::dgid | P::component::p_key |
                                           P::component::reversible | P::component::number_of_paths,
                         .record = {wanted.octets.begin(), wanted.octets.end()}});
}

}  // namespace

const Case limited_members_have_no_path{
    .id = "IPOIB-4392-1.2-INV-001",
    .title = "There is no path between two limited members of a partition",
    .checks = {&rfc4392::limited_members_kept_apart},
    .pass_if =
        "the SA tells no path between two limited members of a partition, and tells one when one of them is a full "
        "member",
    .tags = {"sa", "pkey"},
    .impact = Impact::link,
    .needs = Ability::two_ports | Ability::fabric_control,
    .subject = Subject::sa,
    .lasts_at_most = 20s,
    .steps =
        [](Bench& bench) {
            const auto one = bench.tester.first().self().gid, other = bench.tester.second().self().gid;
            const auto give = [&](const Gid& port, std::uint16_t p_key) {
                bench.fabric.change(SetPKey{{.guid = port.interface_id()}, p_key});
            };
            bench.step("Both are limited members");
            give(one, limited_p_key);
            give(other, limited_p_key);
            bench.pass_time(1s);
            bench.sa.require_refusal(ask_for_path(bench, one, other));
            bench.step("One of them is a full member too");
            give(other, full_p_key);
            bench.pass_time(1s);
            bench.precondition(ask_for_path(bench, one, other).is_ok(), "the SA tells a path");
        },
};

}  // namespace ipoib::conformance
