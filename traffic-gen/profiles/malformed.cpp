// SPDX-License-Identifier: GPL-2.0-or-later
#include "traffic-gen/mutation.hpp"
#include "traffic-gen/profile.hpp"

#include <algorithm>

namespace ipoib::traffic {

const Profile malformed{
    .name = "malformed",
    .what = "every mutation in turn, each on packets of its own profile",
    .impact = Impact::fabric,
    .play =
        [](Stage& stage) {
            constexpr std::uint64_t least_each = 20;
            const auto mutations = all_mutations();
            const auto count = stage.options().count;
            const auto packets_each =
                count == StageOptions::no_bound ? least_each : std::max(least_each, count / mutations.size());
            while (stage.goes_on())
                for (const auto* mutation : mutations) {
                    const auto* profile = find_profile(mutation->profile);
                    if (!stage.goes_on()) return;
                    if (stage.administrator() && !profile->no_fabric.empty()) continue;
                    stage.forget_memberships();
                    if (profile->prepare) profile->prepare(stage);
                    stage.begin_part(packets_each);
                    stage.mutate_by(mutation->change);
                    profile->play(stage);
                    stage.mutate_by(nullptr);
                    stage.end_part();
                }
        },
};

}  // namespace ipoib::traffic
