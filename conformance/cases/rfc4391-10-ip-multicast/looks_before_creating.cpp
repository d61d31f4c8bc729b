// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case sender_looks_for_missing_group{
    .id = "IPOIB-4391-10-VAL-011",
    .title = "A sender asks the SA whether a group exists; a join that creates the group is no such question",
    .checks = {&rfc4391::sender_checks_group},
    .pass_if = "the DUT asks for the missing group's record, or tries a join that does not create the group",
    .tags = {"sa", "egress", "ipv4", "ipv6"},
    .needs = Ability::see_all,
    .dut_can = {"send"},
    .in_both_families = true,
    .steps =
        [](Bench& bench) {
            const auto group = bench.fresh_group();
            const auto mgid = bench.mgid_of(group);
            bench.step("The DUT sends to a group that nobody has joined");
            const auto like = Bytes<McMemberRecord>{}.set(McMemberRecord::mgid, mgid);
            const auto answer = bench.sa.ask({.method = Method::get,
                                              .attribute = attribute::mc_member_record,
                                              .component_mask = McMemberRecord::component::mgid,
                                              .record = {like.octets.begin(), like.octets.end()}});
            bench.precondition(answer.status == sa_status::no_records, "the SA says that the group does not exist");
            bench.dut.sends(group, bench.fresh_port());
            bench.dut.maps_rightly(group);
            bench.pass_time(2s);
            if (bench.sa.group(mgid))
                bench.require(bench.comes_before(query_of(mgid), creating_join_of(mgid)),
                              "a question for " + text(mgid) + " before the join that created it", "none");
            else
                bench.require(bench.count(request_about(mgid)) > 0, "a request about " + text(mgid), "none");
        },
};

}  // namespace ipoib::conformance
