// SPDX-License-Identifier: GPL-2.0-or-later
// Looks for the frames of a chain.
#include "conformance/interop/chain.hpp"

namespace ipoib::conformance::interop {

Reached reached(const std::vector<Leg>& legs, const Recorder& recorder, std::size_t begin,
                const std::function<std::optional<Side>(const wire::Packet&)>& sender) {
    Reached far;
    std::vector<std::pair<std::size_t, Astray>> strays(legs.size());
    std::vector<std::size_t> earliest(legs.size());
    wire::Packet packet;
    for (auto i = begin; i < recorder.size(); ++i) {
        recorder.decode(i, packet);
        const auto whose = sender(packet);
        if (!whose) continue;
        for (auto leg = legs.size(); leg-- > 0;) {
            if (far.legs < legs[leg].after || legs[leg].owes != *whose || !legs[leg].is_it(packet)) continue;
            const auto astray = legs[leg].astray ? legs[leg].astray(packet) : Astray{};
            if (!astray.why.empty()) {
                strays[leg] = {i + 1, astray};
                break;
            }
            if (leg + 1 > far.legs) {
                far.legs = leg + 1;
                far.frame = i + 1;
                far.asked_frame = leg == 0 ? 0 : earliest[leg - 1];
            }
            if (earliest[leg] == 0) earliest[leg] = i + 1;
            break;
        }
    }
    if (far.legs < legs.size()) std::tie(far.stray_frame, far.stray) = strays[far.legs];
    return far;
}

}  // namespace ipoib::conformance::interop
