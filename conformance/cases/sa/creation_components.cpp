// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case creation_needs_components{
    .id = "IPOIB-IBA-15.2.5.17-INV-003",
    .title = "A join creates a group only if it gives what a group must have",
    .checks = {&iba::creation_components},
    .pass_if =
        "the SA refuses to create a group without Q_Key, TClass, P_Key, SL or FlowLabel, and creates it with all",
    .tags = {"sa"},
    .impact = Impact::link,
    .subject = Subject::sa,
    .steps =
        [](Bench& bench) {
            using component = McMemberRecord::component;
            constexpr std::array<std::pair<const char*, std::uint64_t>, 5> components{
                {{"Q_Key", component::q_key},
                 {"TClass", component::traffic_class},
                 {"P_Key", component::p_key},
                 {"SL", component::sl},
                 {"FlowLabel", component::flow_label}}};
            for (const auto& [name, missing] : components) {
                bench.step(std::string("A group is to be created without ") + name);
                const auto record = bench.sa.new_group_record();
                bench.sa.require_refusal(bench.sa.ask_to_join(record, bench.sa.creation_mask() & ~missing));
                bench.require(!bench.sa.group(record[McMemberRecord::mgid]), "no new group", "the group was created");
                bench.step("The same with all of them");
                bench.precondition(bench.sa.ask_to_join(record, bench.sa.creation_mask()).is_ok(),
                                   "the SA creates the group");
            }
        },
};

}  // namespace ipoib::conformance
