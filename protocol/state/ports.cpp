// SPDX-License-Identifier: GPL-2.0-or-later
// Ports by LID and by GID.
#include "protocol/state/tables.hpp"

namespace ipoib::state {

PortIndex Ports::add() {
    if (left_ == 0 || !take_from(octets_left_, cost)) {
        ++refused_;
        return none;
    }
    --left_;
    ++changes_;
    ports_.add();
    return static_cast<PortIndex>(ports_.size() - 1);
}

PortIndex Ports::of(std::uint16_t lid) {
    if (lid == 0 || lid >= end_of_lids) return none;
    auto& index = place(lid).latest;
    if (index == none && (index = add()) != none) move(index, lid);
    return index;
}

void Ports::move(PortIndex index, std::uint16_t lid) {
    auto& port = ports_[index];
    if (port.lid == lid) return;
    ++changes_;
    if (port.lid != 0) by_lid_[port.lid].first = by_place_.take(by_lid_[port.lid].first, index);
    port.lid = lid;
    if (lid == 0) return;
    auto& first = place(lid).first;
    first = by_place_.put(first, index);
}

PortIndex Ports::find(const wire::Gid& gid) const { return by_gid_.find(gid); }

PortIndex Ports::of(std::uint16_t lid, const wire::Gid& gid, const Sight& now) {
    if (lid >= end_of_lids) lid = 0;
    if (gid.is_zero() || gid.is_multicast()) return of(lid);
    const auto known = find(lid);
    if (known != none && ports_[known].gid == gid) return known;
    auto index = find(gid);
    // Until now nobody has told which port has this LID.
    if (index == none && known != none && ports_[known].gid.is_zero()) {
        ports_[known].gid = gid;
        ++changes_;
        refused_ += !by_gid_.set(gid, known);
        return known;
    }
    if (index == none) {
        if ((index = add()) == none) return none;
        ports_[index].gid = gid;
        refused_ += !by_gid_.set(gid, index);
    }
    if (lid == 0) return index;
    // A port that came back with another LID, a LID that another port has now, or one more GID at this LID.
    auto& here = place(lid);
    if (here.latest != index) ++changes_;
    if (ports_[index].lid != 0 && ports_[index].lid != lid) ports_[index].moved = now;
    move(index, lid);
    here.latest = index;
    return index;
}

void Ports::rename(std::uint64_t from, std::uint64_t to) {
    if (from == to) return;
    for (PortIndex i = 0; i < ports_.size(); ++i) {
        auto& port = ports_[i];
        if (port.gid.is_zero() || port.gid.prefix() != from) continue;
        const auto gid = wire::Gid::of(to, port.gid.interface_id());
        if (by_gid_.find(gid) != none) continue;
        if (!by_gid_.set(gid, i)) {
            ++refused_;
            continue;
        }
        port.gid = gid;
        ++changes_;
    }
}

}  // namespace ipoib::state
