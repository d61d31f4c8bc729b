// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case mgids_are_validated{
    .id = "IPOIB-UDMC-INV-003",
    .title = "A group is not created with an MGID that none can have",
    .checks = {&udmc::sa_validates_mgid},
    .pass_if =
        "the SA refuses an MGID that is no multicast GID, one with reserved flags, and one of its own kind for the "
        "local subnet; it grants an ordinary one",
    .tags = {"sa", "mgid"},
    .impact = Impact::link,
    .subject = Subject::sa,
    .steps =
        [](Bench& bench) {
            constexpr std::array<std::pair<const char*, Gid>, 3> wrong{
                {{"that is no multicast GID", Gid::of(0xfe80123400000000, 0x4321)},
                 {"with reserved flags", Gid::of(0xff72123400000000, 0x4321)},
                 {"with the SA's own signature and local scope", Gid::of(0xff12a01b00000000, 0x4321)}}};
            for (const auto& [title, mgid] : wrong) {
                bench.step("An ordinary group is asked for");
                bench.precondition(bench.sa.ask_to_join(bench.sa.new_group_record(), bench.sa.creation_mask()).is_ok(),
                                   "the SA creates an ordinary group");
                bench.step(std::string("A group is asked for with an MGID ") + title);
                const auto record = bench.sa.new_group_record().set(McMemberRecord::mgid, mgid);
                bench.sa.require_refusal(bench.sa.ask_to_join(record, bench.sa.creation_mask()));
                bench.require(!bench.sa.group(mgid), "no such group", "the group was created");
            }
        },
};

}  // namespace ipoib::conformance
