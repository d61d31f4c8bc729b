// SPDX-License-Identifier: GPL-2.0-or-later
// Ports by LID and by GID.
#include "protocol/state/tables.hpp"

namespace ipoib::state {

PortIndex Ports::add() {
    if (ports_.size() >= limit_) {
        ++refused_;
        return none;
    }
    ports_.emplace_back();
    return static_cast<PortIndex>(ports_.size() - 1);
}

PortIndex Ports::of(std::uint16_t lid) {
    if (lid == 0 || lid >= by_lid_.size()) return none;
    auto& index = by_lid_[lid];
    if (index == none && (index = add()) != none) ports_[index].lid = lid;
    return index;
}

PortIndex Ports::find(const wire::Gid& gid) const {
    const auto found = by_gid_.find(gid);
    return found == by_gid_.end() ? none : found->second;
}

PortIndex Ports::of(std::uint16_t lid, const wire::Gid& gid) {
    if (lid >= by_lid_.size()) lid = 0;
    if (gid.is_zero() || gid.is_multicast()) return of(lid);
    if (const auto known = lid ? by_lid_[lid] : none; known != none) {
        if (ports_[known].gid == gid) return known;
        // Until now nobody has told which port has this LID.
        if (ports_[known].gid.is_zero() && find(gid) == none) {
            ports_[known].gid = gid;
            by_gid_.emplace(gid, known);
            return known;
        }
    }
    auto index = find(gid);
    if (index == none) {
        if ((index = add()) == none) return none;
        ports_[index].gid = gid;
        by_gid_.emplace(gid, index);
    }
    // A port that came back with another LID, or a LID that another port has now.
    if (lid) {
        ports_[index].lid = lid;
        by_lid_[lid] = index;
    }
    return index;
}

}  // namespace ipoib::state
