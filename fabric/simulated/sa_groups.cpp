// SPDX-License-Identifier: GPL-2.0-or-later
// The life of groups.
#include "fabric/simulated/sa_groups.hpp"

#include <algorithm>

namespace ipoib::fabric::sa {
using namespace wire;
using M = McMemberRecord;

namespace {

constexpr std::uint16_t last_mlid = 0xfffe;

}  // namespace

std::size_t Groups::mlids(const SaConfig& config) {
    const std::size_t there_are = config.first_mlid > last_mlid ? 0u : last_mlid - config.first_mlid + 1u;
    return std::min(config.most_groups, there_are);
}

std::uint16_t Groups::free_mlid(std::uint16_t wanted) const {
    const auto index = static_cast<std::size_t>(wanted - config_.first_mlid);
    if (wanted >= config_.first_mlid && index < is_mlid_used_.size() && !is_mlid_used_[index]) return wanted;
    const auto at = std::find(is_mlid_used_.begin(), is_mlid_used_.end(), false);
    if (at == is_mlid_used_.end() || groups_.size() >= room()) return 0;
    return static_cast<std::uint16_t>(config_.first_mlid + (at - is_mlid_used_.begin()));
}

std::size_t Groups::room() const noexcept {
    const bool is_less = lapses(SaLapse::room_is_one_less) || (lapses(SaLapse::room_shrinks) && memory_.refused > 1);
    return is_mlid_used_.size() - (is_less ? 1 : 0);
}

void Groups::waste_mlid() {
    if (const auto mlid = free_mlid(0); mlid != 0)
        is_mlid_used_[static_cast<std::size_t>(mlid - config_.first_mlid)] = true;
}

void Groups::free_mlid_of(const HeldGroup& group) {
    is_mlid_used_[static_cast<std::size_t>(group.mlid() - config_.first_mlid)] = false;
}

HeldGroup* Groups::find(const Gid& mgid) noexcept {
    const auto at = groups_.find(mgid);
    return at == groups_.end() ? nullptr : &at->second;
}

HeldGroup* Groups::create(McRecord record, bool is_administrative) {
    auto mlid = memory_.shut == 0 ? free_mlid(record[M::mlid]) : std::uint16_t{0};
    if (mlid == 0 && config_.behaviour.makes_room) {
        const auto victim = std::find_if(groups_.begin(), groups_.end(),
                                         [](const auto& entry) { return !entry.second.is_administrative; });
        if (victim != groups_.end()) remove(victim->second);
        mlid = free_mlid(record[M::mlid]);
    }
    if (mlid == 0) {
        ++memory_.refused;
        if (lapses(SaLapse::full_stays_full) && memory_.shut == 0) memory_.shut = 2;
        return nullptr;
    }
    const auto before = memory_.ended.find(record[M::mgid]);
    if (before != memory_.ended.end() && lapses(SaLapse::recreated_group_is_as_before)) record = before->second.record;
    record.set(M::mlid, mlid).set(M::port_gid, {}).set(M::join_state, 0).set(M::proxy_join, false).set(M::reserved, 0);
    record.set(M::mtu_selector, selector::exactly)
        .set(M::rate_selector, selector::exactly)
        .set(M::lifetime_selector, selector::exactly);
    if (is_administrative && memory_.has_restarted && lapses(SaLapse::restart_resets_broadcast))
        record.set(M::hop_limit, static_cast<std::uint8_t>(record[M::hop_limit] + 1));
    is_mlid_used_[static_cast<std::size_t>(mlid - config_.first_mlid)] = true;
    auto& group = groups_[record[M::mgid]];
    group.record = record;
    group.is_administrative = is_administrative;
    const bool has_members =
        lapses(SaLapse::recreated_group_has_members) || (is_administrative && lapses(SaLapse::restart_keeps_broadcast));
    if (before != memory_.ended.end() && has_members) group.members = before->second.members;
    return &group;
}

Gid Groups::unused_mgid(unsigned scope, std::uint64_t subnet_prefix) {
    for (;;) {
        const auto upper = std::uint64_t{0xff10u | (scope & 0xfu)} << 48 | std::uint64_t{own_signature} << 32;
        const auto mgid = Gid::of(upper | subnet_prefix >> 32, subnet_prefix << 32 | ++last_own_mgid_);
        if (!groups_.contains(mgid) || lapses(SaLapse::own_mgid_again)) return mgid;
    }
}

void Groups::announce(HeldGroup& group) {
    if (std::exchange(group.is_announced, true)) return;
    if (lapses(SaLapse::recreation_unreported) && memory_.ended.contains(group.mgid())) return;
    subscriptions_.report(trap::multicast_group_created, group.mgid(), group.record[M::p_key]);
}

void Groups::remove(HeldGroup& group) {
    const auto mgid = group.mgid();
    const auto mlid = group.mlid();
    const auto p_key = group.record[M::p_key];
    const bool was_announced = group.is_announced && !is_unreported_;
    const bool has_members = !group.members.empty();
    const bool has_own_mgid = mgid_of(mgid)[Mgid::signature] == own_signature;
    const bool keeps_mlid = std::exchange(keeps_next_mlid_, false) ||
                            (has_members && lapses(SaLapse::other_members_keep_mlid)) ||
                            (has_own_mgid && lapses(SaLapse::own_mgid_keeps_mlid));
    if (lapses(SaLapse::own_mgid_again) && has_own_mgid) last_own_mgid_ = 0;
    if (memory_.shut != 0) --memory_.shut;
    remember(group);
    drop_members(group);
    if (config_.behaviour.frees_mlids && !keeps_mlid)
        is_mlid_used_[static_cast<std::size_t>(mlid - config_.first_mlid)] = false;
    groups_.erase(mgid);
    if (!was_announced) return;
    subscriptions_.report(trap::multicast_group_deleted, mgid, p_key);
    if (has_members && lapses(SaLapse::other_members_report_twice))
        subscriptions_.report(trap::multicast_group_deleted, mgid, p_key);
}

void Groups::remember(const HeldGroup& group) {
    if (lapses(SaLapse::none)) return;
    constexpr std::size_t most = 1024;
    if (memory_.ended.size() < most) memory_.ended[group.mgid()] = group;
}

bool Groups::counts(std::uint8_t states) const noexcept {
    const auto& behaviour = config_.behaviour;
    unsigned counted = join_state::full_member | join_state::send_only_full_member;
    if (behaviour.counts_non_member) counted |= join_state::non_member;
    if (behaviour.counts_send_only_member) counted |= join_state::send_only_non_member;
    return (states & counted) != 0;
}

bool Groups::is_receiver(std::uint8_t states) const noexcept {
    const auto& behaviour = config_.behaviour;
    if ((states & join_state::full_member) != 0) return behaviour.routes_to_members;
    if ((states & join_state::non_member) != 0) return behaviour.routes_to_members && behaviour.routes_to_non_members;
    return behaviour.routes_to_send_only;
}

std::uint8_t Groups::states(const Group& group, const Gid& port_gid) {
    const auto at = group.members.find(port_gid);
    return at == group.members.end() ? std::uint8_t{0} : at->second;
}

void Groups::set_states(HeldGroup& group, const Gid& port_gid, std::uint8_t states) {
    const auto before = Groups::states(group, port_gid);
    const bool is_more = (states & ~before) != 0 || states == before;
    group.counted = group.counted + counts(states) - counts(before);
    constexpr std::size_t few = 2;
    if (lapses(SaLapse::count_stops)) group.counted = std::min(group.counted, few);
    const bool goes_on = counts(before) && counts(states);
    constexpr std::uint8_t both = join_state::full_member | join_state::send_only_full_member;
    if (lapses(SaLapse::rejoin_counts_again) && goes_on && is_more && (before & both) == both) ++group.counted;
    const bool has_others = group.members.size() > 1;
    if (lapses(SaLapse::part_of_union_uncounts) && goes_on && !is_more && has_others) --group.counted;
    if (states == 0) {
        group.members.erase(port_gid);
        if (!lapses(SaLapse::leave_keeps_proxy)) group.proxies.erase(port_gid);
    } else {
        group.members[port_gid] = states;
    }
}

void Groups::route(HeldGroup& group, const Gid& port_gid, std::uint16_t lid, std::uint8_t states) {
    const auto at = group.lids.find(port_gid);
    if (at != group.lids.end() && (states == 0 || at->second != lid)) {
        const auto old = at->second;
        group.lids.erase(at);
        if (group.routes.to.erase(old) + group.routes.from_only.erase(old) != 0)
            subnet_.reroute(group.mlid(), old, group.routes);
    }
    if (states == 0) return;
    const bool receives = is_receiver(states);
    auto& in = receives ? group.routes.to : group.routes.from_only;
    auto& out = receives ? group.routes.from_only : group.routes.to;
    out.erase(lid);
    group.lids[port_gid] = lid;
    if (in.insert(lid).second) subnet_.reroute(group.mlid(), lid, group.routes);
}

void Groups::join(HeldGroup& group, const KnownPort& port, std::uint8_t states, bool is_proxy) {
    if (is_proxy && !group.members.contains(port.gid)) group.proxies.insert(port.gid);
    const bool was_alive = group.counted != 0;
    if (const auto at = memory_.vanished.find({group.mgid(), port.gid}); at != memory_.vanished.end()) {
        states |= at->second;
        memory_.vanished.erase(at);
    }
    const bool is_member = group.members.contains(port.gid);
    set_states(group, port.gid, states);
    if (const auto lower = free_mlid(0);
        lapses(SaLapse::rejoin_moves_mlid) && is_member && lower != 0 && lower < group.mlid()) {
        free_mlid_of(group);
        is_mlid_used_[static_cast<std::size_t>(lower - config_.first_mlid)] = true;
        group.record.set(M::mlid, lower);
    }
    route(group, port.gid, port.lid, states);
    if (!was_alive && group.counted != 0) {
        group.creator = port.gid;
        announce(group);
    }
}

bool Groups::leave(HeldGroup& group, const Gid& port_gid, std::uint8_t rest) {
    const bool was_alive = group.counted != 0;
    set_states(group, port_gid, rest);
    const bool is_empty = group.members.empty() && !group.is_administrative;
    const bool is_forsaken =
        lapses(SaLapse::creator_ends_group) && was_alive && port_gid == group.creator && !counts(rest);
    if ((is_forsaken || group.counted == 0) && (was_alive || is_empty) && end(group)) return false;
    const auto left = states(group, port_gid);
    route(group, port_gid, group.lids.contains(port_gid) ? group.lids.at(port_gid) : std::uint16_t{0}, left);
    return left != 0;
}

bool Groups::end(HeldGroup& group) {
    if (!config_.behaviour.deletes_at_last_full_member) return false;
    if (!group.is_administrative || !config_.behaviour.keeps_administrative) {
        remove(group);
        return true;
    }
    // OpenSM says that the group is deleted and forgets its other members, but keeps it.
    if (config_.behaviour.is_strict) return false;
    drop_members(group);
    if (std::exchange(group.is_announced, false))
        subscriptions_.report(trap::multicast_group_deleted, group.mgid(), group.record[M::p_key]);
    return false;
}

void Groups::drop_members(HeldGroup& group) {
    group.members.clear();
    group.proxies.clear();
    group.lids.clear();
    group.counted = 0;
    if (group.routes.to.empty() && group.routes.from_only.empty()) return;
    group.routes = {};
    subnet_.route(group.mlid(), group.routes);
}

void Groups::prune(const Gid& port_gid) {
    for (auto at = groups_.begin(); at != groups_.end();) {
        auto& group = (at++)->second;
        if (!group.members.contains(port_gid)) continue;
        if (lapses(SaLapse::vanish_keeps_proxies) && group.proxies.contains(port_gid)) continue;
        if (lapses(SaLapse::vanished_states_return))
            memory_.vanished[{group.mgid(), port_gid}] = group.members.at(port_gid);
        keeps_next_mlid_ = lapses(SaLapse::vanished_port_keeps_mlid);
        is_unreported_ = lapses(SaLapse::vanish_unreported);
        leave(group, port_gid, 0);
        keeps_next_mlid_ = is_unreported_ = false;
        if (lapses(SaLapse::vanish_leaves_one_group)) return;
    }
}

void Groups::drop_others(HeldGroup& group) {
    std::erase_if(group.members, [&](const auto& entry) { return !counts(entry.second); });
}

void Groups::clear() {
    memory_ = {};
    memory_.has_restarted = true;
    for (auto& [mgid, group] : groups_) {
        if (lapses(SaLapse::restart_keeps_broadcast) && group.is_administrative) remember(group);
        drop_members(group);
    }
    groups_.clear();
    if (lapses(SaLapse::restart_keeps_mlids)) return;
    is_mlid_used_.assign(is_mlid_used_.size(), false);
}

}  // namespace ipoib::fabric::sa
