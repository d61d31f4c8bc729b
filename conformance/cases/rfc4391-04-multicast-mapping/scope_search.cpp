// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case scope_of_the_link_is_found{
    .id = "IPOIB-4391-4.1-VAL-001",
    .title = "The broadcast-GID is looked for in local scope first, or its scope is configured",
    .checks = {&rfc4391::broadcast_gid_default_scope, &rfc4391::broadcast_gid_scope_search},
    .pass_if =
        "without a configured scope the first broadcast-GID that the DUT asks for is of scope 2; further ones are "
        "noted",
    .tags = {"sa", "broadcast"},
    .needs = Ability::see_all,
    .dut_can = {"up", "set_scope"},
    .begin = Begin::down,
    .lasts_at_most = 60s,
    .steps =
        [](Bench& bench) {
            constexpr auto everyone = IpAddress::v4(0xffffffff);
            bench.dut->set_scope(0);
            bench.step("The interface comes up without a configured scope", rfc4391::broadcast_gid_default_scope);
            bench.dut.begins_to_come_up();
            bench.require(request_like(everyone).where(
                              McMemberRecord::mgid,
                              [](const Gid& mgid, auto&) { return Bytes<Mgid>{mgid.octets}[Mgid::scope] == 2; },
                              "of scope 2 (link-local)"),
                          within(30s));
            bench.same_step("Whether it searches on", rfc4391::broadcast_gid_scope_search);
            bench.pass_time(5s);
            bench.require(true, "either");
            const auto& link = bench.link();
            if (link.scope == 2) return bench.note("the link is of scope 2: there is nothing to search for");
            bench.note(bench.count(join_of(link.broadcast_gid())) > 0 ? "the DUT searches in other scopes"
                                                                      : "the DUT does not search in other scopes");
        },
};

}  // namespace ipoib::conformance
