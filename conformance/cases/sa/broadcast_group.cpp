// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case broadcast_group_is_set_up{
    .id = "IPOIB-4391-4.1-VAL-002",
    .title = "The broadcast group is what an IPoIB link needs",
    .checks = {&rfc4391::broadcast_group_full_pkey, &rfc4391::broadcast_group_controlled_qkey,
               &rfc4391::broadcast_group_mtu_bound, &rfc4391::link_mtu},
    .pass_if =
        "the SA's record of the broadcast group has a full-membership P_Key, a controlled Q_Key, and an MTU that the "
        "tester's port supports",
    .tags = {"sa", "broadcast", "qkey", "pkey", "mtu"},
    .impact = Impact::observe,
    .subject = Subject::sa,
    .steps =
        [](Bench& bench) {
            using Member = McMemberRecord;
            constexpr auto controlled = std::uint32_t{0x80000000};
            bench.step("The SA is asked for the broadcast group");
            const auto group = bench.sa.group(bench.link().broadcast_gid());
            bench.precondition(group.has_value(), "the SA has a broadcast group");
            const auto& record = group->record;
            bench.same_step("Its P_Key", rfc4391::broadcast_group_full_pkey);
            bench.require((record[Member::p_key] & full_membership) != 0, "a P_Key with the membership bit",
                          hex(record[Member::p_key], 4));
            bench.same_step("Its Q_Key", rfc4391::broadcast_group_controlled_qkey);
            bench.require((record[Member::q_key] & controlled) != 0, "a controlled Q_Key",
                          hex(record[Member::q_key], 8));
            bench.same_step("Its MTU", rfc4391::broadcast_group_mtu_bound, rfc4391::link_mtu);
            bench.require(record[Member::mtu] <= bench.tester.port().mtu, "at most the MTU of the tester's port",
                          value_text(Member::mtu, record.octets.data()));
        },
};

}  // namespace ipoib::conformance
