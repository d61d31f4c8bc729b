// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case join_is_answered_with_the_group{
    .id = "IPOIB-4392-1.2.1.2-VAL-001",
    .title = "A group has one set of parameters, whether it is joined or asked for",
    .checks = {&rfc4392::mgid_identifies_one_group},
    .pass_if =
        "the answer to a join of a new group, and of the broadcast group, names the MLID and the parameters that the "
        "answer to a query names",
    .tags = {"sa", "mtu"},
    .impact = Impact::link,
    .subject = Subject::sa,
    .steps =
        [](Bench& bench) {
            using Member = McMemberRecord;
            const auto created = bench.sa.join(bench.fresh_group4());
            for (const auto& mgid : {created.mgid, bench.link().broadcast_gid()}) {
                bench.step(text(mgid) + " is joined and asked for");
                const auto joined = bench.sa.join(mgid, JoinState::send_only_non_member).record;
                const auto group = bench.sa.group(mgid);
                bench.precondition(group.has_value(), "the SA has the group");
                const auto& held = group->record;
                bench.require_field(joined, Member::mlid, held[Member::mlid]);
                bench.require_field(joined, Member::mtu, held[Member::mtu]);
                bench.require_field(joined, Member::rate, held[Member::rate]);
                bench.require_field(joined, Member::p_key, held[Member::p_key]);
                bench.require_field(joined, Member::q_key, held[Member::q_key]);
                bench.require_field(joined, Member::sl, held[Member::sl]);
                bench.require_field(joined, Member::traffic_class, held[Member::traffic_class]);
                bench.require_field(joined, Member::flow_label, held[Member::flow_label]);
                bench.require_field(joined, Member::hop_limit, held[Member::hop_limit]);
            }
        },
};

}  // namespace ipoib::conformance
