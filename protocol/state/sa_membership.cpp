// SPDX-License-Identifier: GPL-2.0-or-later
// Who joins, leaves and subscribes, and what the subnet administrator says to it. IBTA Vol 1, 15.2.5.17.
#include "protocol/state/rates.hpp"
#include "protocol/state/subnet.hpp"
#include "protocol/wire/inform_info.hpp"
#include "protocol/wire/mgid.hpp"
#include "protocol/wire/notice.hpp"

#include <algorithm>
#include <utility>

namespace ipoib::state {
using namespace wire;

namespace {

using component = McMemberRecord::component;

/// Whether a request's value can be met by what the group or the port has. IBTA Vol 1, 15.2.5.16.
bool meets(std::uint8_t selector_value, std::uint8_t wanted, std::uint8_t has) {
    switch (selector_value) {
        case selector::greater:
            return has > wanted;
        case selector::less:
            return has < wanted;
        case selector::exactly:
            return has == wanted;
        default:
            return true;
    }
}

/// The component that a refused join and the group's record disagree about; 0 where they do not.
std::uint64_t conflict(View<McMemberRecord> asked, std::uint64_t mask, const GroupParameters& group, const Port& port) {
    const auto gives = [&](std::uint64_t what) { return (mask & what) == what; };
    if (gives(component::p_key) && !is_same_partition(asked[McMemberRecord::p_key], group.p_key))
        return component::p_key;
    if (gives(component::q_key) && asked[McMemberRecord::q_key] != group.q_key) return component::q_key;
    if (gives(component::mtu) &&
        !meets(gives(component::mtu_selector) ? asked[McMemberRecord::mtu_selector] : selector::exactly,
               asked[McMemberRecord::mtu], group.mtu))
        return component::mtu;
    if (gives(component::rate) &&
        !meets(gives(component::rate_selector) ? asked[McMemberRecord::rate_selector] : selector::exactly,
               asked[McMemberRecord::rate], group.rate))
        return component::rate;
    if (gives(component::sl) && asked[McMemberRecord::sl] != group.sl) return component::sl;
    if (gives(component::traffic_class) && asked[McMemberRecord::traffic_class] != group.traffic_class)
        return component::traffic_class;
    if (gives(component::flow_label) && asked[McMemberRecord::flow_label] != group.flow_label)
        return component::flow_label;
    if (gives(component::hop_limit) && asked[McMemberRecord::hop_limit] != group.hop_limit) return component::hop_limit;
    if (gives(component::scope) && asked[McMemberRecord::scope] != group.scope) return component::scope;
    if (port.mtu && group.mtu && port.mtu < group.mtu) return component::mtu;
    if (port.rate && group.rate && rate_order(port.rate) < rate_order(group.rate)) return component::rate;
    return 0;
}

/// The LIDs of a port differ in their lowest LMC bits.
bool is_lid_of(const Port& port, std::uint16_t lid) { return (port.lid >> port.lmc) == (lid >> port.lmc); }

}  // namespace
Member::Asked* Subnet::asked_by(Member& member, Method method) {
    switch (method) {
        case Method::get:
            return &member.asked_by[0];
        case Method::set:
            return &member.asked_by[1];
        case Method::del:
            return &member.asked_by[2];
        default:
            return nullptr;
    }
}

/// How many open requests an answer ends: with the latest one for a group those before it, which were asked again.
std::uint32_t Subnet::closed_by(const Request& request) {
    const bool is_for_group =
        request.attribute == attribute::mc_member_record && (request.components & component::mgid) != 0;
    const auto group = is_for_group ? groups_.find(request.as<McMemberRecord>()[McMemberRecord::mgid]) : none;
    const auto index = group == none ? none : members_.find(member_key(group, request.port));
    auto* asked = index == none ? nullptr : asked_by(members_[index], request.method);
    if (!asked || asked->epoch != request.epoch) return 1;
    if (asked->open == 0) return 0;
    if (request.asked.order >= asked->latest && !asked->has_other_states) return std::exchange(asked->open, 0);
    --asked->open;
    return 1;
}

void Subnet::asked_for_group(const Request& request) {
    const auto record = request.as<McMemberRecord>();
    const auto mgid = record[McMemberRecord::mgid];
    group_ = group_of(mgid);
    if (has_ipoib_signature(mgid)) known_.link = &links_[link_of_group(mgid)];
    const auto index = member_of(group_, subject_);
    if (index == none) return;
    auto& member = members_[index];
    member.was_asked_for = true;
    if (auto* asked = opens_request_ ? asked_by(member, request.method) : nullptr) {
        if (asked->epoch != request.epoch || asked->open == 0) *asked = {.epoch = request.epoch};
        const auto wanted = record[McMemberRecord::join_state];
        asked->has_other_states |= asked->open != 0 && asked->state != wanted;
        asked->state = wanted;
        asked->latest = request.asked.order;
        ++asked->open;
    }
    member.was_looked_up |= request.method == Method::get || request.method == Method::get_table;
    member.told_of_deletion = {};
    // What the SM has asked this port for, or a new SA, is no question for a packet.
    const auto& renewal = ports_[subject_].renewal ? ports_[subject_].renewal : sa_changed_;
    const bool is_asked_for = renewal && renewal.order >= member.joined_at.order;
    // What a cache has kept for a while may be asked for again.
    constexpr std::int64_t shortest_life = 30'000'000'000;  // ns
    const bool is_soon = known_.now.steady - member.asked_last.steady < shortest_life;
    const bool is_lone = member.sent_since_request == 1 && request.method != Method::del && !is_asked_for && is_soon;
    member.asked_last = known_.now;
    member.lone_requests =
        is_lone ? static_cast<std::uint8_t>(std::min(member.lone_requests + 1, 200)) : std::uint8_t{0};
    if (member.lone_requests == 1) member.lone_since = known_.now;
    member.sent_since_request = 0;
    const auto state = record[McMemberRecord::join_state];
    if (request.method == Method::del) {
        member.asked_to_leave = known_.now;
        tell(EventKind::asks_to_leave, subject_, group_);
    }
    if (request.method != Method::set) return;
    // A report of its creation may come before the answer.
    const bool is_looked_up = member.was_looked_up || requester(subject_).asked_for_groups;
    member.asks_for_missing = !is_looked_up && groups_[group_].existence == Existence::missing;
    if (member.asks_for_missing) member.missed = groups_[group_].missed;
    constexpr std::uint8_t to_receive = join_state::full_member | join_state::non_member;
    if ((state & ~member.asked & to_receive) != 0) requester_at(request.lid).joins = known_.now;
    member.asked |= state;
    if (state & join_state::full_member) tell(EventKind::asks_full, subject_, group_);
    if (!(state & join_state::non_member)) return;
    tell(EventKind::asks_non_member, subject_, group_);
    // A receiver that joins as NonMember by mistake is no router: those follow the SA's list.
    if (!ports_[subject_].lists_and_joins && requester(subject_).asked_for_groups) {
        ports_[subject_].lists_and_joins = true;
        becomes_router(subject_);
    }
}

/// If it is one now. It has been told of the groups that its last table names.
void Subnet::becomes_router(PortIndex port) {
    if (!ports_[port].is_router()) return;
    tell(EventKind::becomes_router, port);
    const auto& listed = requester(port).listed;
    if (!listed) return;
    constexpr std::size_t most = 1024;
    for (GroupIndex group = 0; group < std::min(groups_.all().size(), most); ++group)
        if (groups_[group].told == listed && has_ipoib_signature(groups_[group].mgid))
            tell(EventKind::told_of_group, port, group);
}

/// Whether it is a NonMember of any group, as a router is.
bool Subnet::follows_groups(const Port& port) const {
    constexpr std::size_t most = 1024;
    std::size_t count = 0;
    for (auto index = port.first_member; index != none && count < most; index = members_[index].next_of_port, ++count)
        if (members_[index].joined & join_state::non_member) return true;
    return count == most;
}

/// It is no router any more, until it shows again that it is one.
void Subnet::ceases_to_route(PortIndex port) {
    set(ports_[port].lists_and_joins, false);
    set(ports_[port].speaks_as_router, false);
}

/// A group that has had a member since its MLID was told keeps it, as long as no SA begins anew.
void Subnet::is_told_otherwise(View<McMemberRecord> record) {
    const auto* group = groups_.get(group_);
    if (!group || !group->record || group->source != Source::sa || group->record->mlid == record[McMemberRecord::mlid])
        return;
    const auto since = std::max(group->deleted.order, sm_restarted_.order);
    const auto own = members_.find(member_key(group_, subject_));
    // All ports of a subnet have one prefix: who was a member under another one was so at an SA that is gone.
    const auto prefix = ports_[subject_].gid.prefix();
    const auto other = full_members_.other_than(own, group_, group->record->mlid, [&](std::uint32_t index) {
        const auto& member = members_[index];
        return member.joined_at.order > since && ports_[member.port].gid.prefix() == prefix;
    });
    known_.is_told_twice = other != none;
    if (other != none) known_.told_otherwise = members_[other].joined_at;
}

/// After a change of how it is a member, or of the MLID that it was told.
void Subnet::is_told_mlid(std::uint32_t index) {
    const auto& member = members_[index];
    if ((member.joined & join_state::full_member) != 0 && member.joined_at)
        full_members_.put(index, member.group, member.mlid);
    else
        full_members_.take(index);
}

void Subnet::answered_again(const Packet& packet, const Request& request) {
    group_ = groups_.find(request.as<McMemberRecord>()[McMemberRecord::mgid]);
    const auto index = group_ == none ? none : members_.find(member_key(group_, subject_));
    if (index == none || packet.mad[Mad::status] != 0) return;
    // The first may have been lost on its way: which of them the port goes by cannot be known.
    auto& member = members_[index];
    if (member.mlid == 0 || member.mlid == packet.mc_member[McMemberRecord::mlid]) return;
    member.mlid = 0;
    member.told.reset();
    groups_[group_].mlid_has_changed = true;
    is_told_mlid(index);
}

/// The SA has answered the port what the group has.
void Subnet::is_told(Member& member, const GroupParameters& group) {
    if (member.mlid != 0 && member.mlid != group.mlid) member.former_mlid = member.mlid;
    member.mlid = group.mlid;
    const GroupValues values{group.flow_label, group.sl, group.traffic_class, group.hop_limit};
    if (member.told && *member.told != values) member.told_before = member.told;
    member.told = values;
}

/// A join or leave that was asked for later has been answered already. Which of the two the port goes by cannot be
/// known.
bool Subnet::is_answered_late(const Request& request, View<McMemberRecord> record) {
    const auto index = group_ == none ? none : members_.find(member_key(group_, subject_));
    if (index == none || request.asked.order >= members_[index].settled.order) return false;
    auto& member = members_[index];
    if (request.method == Method::set && member.mlid != record[McMemberRecord::mlid]) {
        member.mlid = 0;
        member.told.reset();
        groups_[group_].mlid_has_changed = true;
        is_told_mlid(index);
    }
    return true;
}

void Subnet::answered_join(const Packet& packet, const Request* request) {
    const auto record = packet.mc_member;
    const bool is_ok = packet.mad[Mad::status] == 0;
    // A refusal need not repeat the record.
    const auto asked = request ? request->as<McMemberRecord>() : View<McMemberRecord>{};
    const auto mgid = is_ok || !asked ? record[McMemberRecord::mgid] : asked[McMemberRecord::mgid];
    const auto method = request ? request->method : Method{};
    const bool leaves = packet.mad[Mad::method] == Method::delete_resp;
    if (!mgid.is_multicast()) return;
    group_ = group_of(mgid);
    known_.was_missing = group_ != none && groups_[group_].existence == Existence::missing;
    if (has_ipoib_signature(mgid)) known_.link = &links_[link_of_group(mgid)];
    if (request && method != Method::get && is_answered_late(*request, record)) return;
    if (is_ok) {
        const auto gid = record[McMemberRecord::port_gid];
        if (!request && !gid.is_zero())
            subject_ = port_of(is_at(gid, packet.lrh[Lrh::dlid]) ? packet.lrh[Lrh::dlid] : std::uint16_t{0}, gid);
        if (!prefix_is_known_ && !gid.is_zero()) learn_prefix(gid.prefix());
        if (method == Method::set) is_told_otherwise(record);
        if (!leaves) learn_group(group_, parameters_of(record), Source::sa);
    }
    const auto index = member_of(group_, subject_);
    if (index == none) return;
    auto& member = members_[index];
    if (!is_ok) {
        if (request) refused_join(packet, *request, member);
        return;
    }
    const auto state = request ? asked[McMemberRecord::join_state] : record[McMemberRecord::join_state];
    if (request && method != Method::get) member.settled = request->asked;
    if (leaves) {
        // Who is let go by another port's hand does not hear of it.
        if (!is_lid_of(ports_[subject_], packet.lrh[Lrh::dlid])) {
            requester_at(ports_[subject_].lid).gap = known_.now;
            return;
        }
        member.joined = static_cast<std::uint8_t>(member.joined & ~state);
        is_told_mlid(index);
        if ((state & join_state::non_member) && !follows_groups(ports_[subject_])) ceases_to_route(subject_);
        // A bit that is given up says nothing of others, which it may have got before the capture.
        if (known_.link && is_watched(subject_, *known_.link)) member.left_at = known_.now;
        if (member.joined == 0 && is_broadcast_gid(mgid)) forget_queue_pairs(subject_, link_of_group(mgid));
        return;
    }
    if (method == Method::get) {
        is_told_beside(record);
        is_told(member, parameters_of(record));
        is_told_mlid(index);
        return;
    }
    const bool was_joined = member.joined != 0;
    member.made_unasked = member.asks_for_missing;
    // What it was before it had to register anew it is not any more.
    if (member.joined_at.order < ports_[subject_].lapsed.order) member.joined = 0;
    member.joined |= state;
    member.ever_joined |= state;
    member.granted = record[McMemberRecord::join_state];
    is_told(member, parameters_of(record));
    member.refusal = 0;
    member.first_refused = {};
    member.joined_at = known_.now;
    ++member.grants;
    if (!request)
        is_told_beside(record);
    else if (is_broadcast_gid(mgid))
        member.told_record = told_record(links_[link_of_group(mgid)], parameters_of(record));
    is_told_mlid(index);
    auto& group = groups_[group_];
    if (!group.created) group.created = known_.now;
    auto& port = ports_[subject_];
    auto& requester = requester_at(packet.lrh[Lrh::dlid]);
    if (!is_broadcast_gid(mgid) || !(state & join_state::full_member) || !request) return;
    // The port's life on the link begins here, unless it was on it before. An SM may ask who has just come up to
    // register anew, too.
    const bool was_renewed = port.renewal && !(requester.down && requester.down.order < port.renewal.order);
    // Of a port whose life is seen since it came up another link begins here, too.
    const bool is_further =
        requester.down && requester.down.order > requester.gap.order && requester.down.order < port.first_ipoib.order;
    const bool is_start = !was_joined && !was_renewed && (!port.first_ipoib || member.left_at || is_further);
    const bool is_first = !was_joined && member.grants == 1 && !member.left_at;
    if (is_first && port.first_ipoib && !vouched_.empty() && used_before_.size() < most_used_before)
        used_before_.emplace_back(subject_, port.first_ipoib);
    const bool is_watched_still = member.watched_since && requester.gap.order < member.watched_since.order;
    if (is_start && !is_watched_still) {
        member.watched_since = known_.now;
        member.down = requester.down.order > requester.gap.order ? requester.down : Sight{};
        // What another port at this LID has asked, or this one for another link, is still without an answer.
        if (requester.epoch != 0 && (requester.epoch_of != subject_ || is_further)) return;
        requester.open_requests = 0;
        requester.epoch_of = subject_;
        ++requester.epoch;
    }
}

void Subnet::is_missing(Group& group) {
    group.existence = Existence::missing;
    group.missed = known_.now;
}

void Subnet::refused_join(const Packet& packet, const Request& request, Member& member) {
    const auto status = packet.mad[Mad::status];
    auto& group = groups_[group_];
    const auto asked = request.as<McMemberRecord>();
    if (request.method == Method::get) {
        if (status == sa_status::no_records) is_missing(group);
        // Who asks for the group alone, and hears that it is not there, is no member.
        constexpr auto asks_for_it = component::mgid | component::port_gid;
        const bool is_told = status == sa_status::no_records && (request.components & ~asks_for_it) == 0;
        if (is_told && member.joined != 0) member.told_of_deletion = known_.now;
        member.refused_at = known_.now;
        return;
    }
    if (request.method != Method::set) return;
    member.refusal = status;
    member.refused_at = known_.now;
    if (!member.first_refused) member.first_refused = known_.now;
    ++member.refusals;
    const bool is_full = (asked[McMemberRecord::join_state] & join_state::full_member) != 0;
    const bool can_create = is_full && (request.components & component::create) == component::create;
    member.at_fault = 0;
    const GroupParameters* wanted = group.record ? &*group.record : nullptr;
    // A group that does not exist yet would get what its link has.
    if (!wanted && known_.link && known_.link->broadcast) wanted = &*known_.link->broadcast;
    if (wanted) member.at_fault = conflict(asked, request.components, *wanted, ports_[subject_]);
    const bool may_be_missing = status == sa_status::no_records || status == sa_status::insufficient_components ||
                                status == sa_status::invalid_request;
    if (member.at_fault == 0 && !can_create && may_be_missing && group.existence != Existence::exists) {
        is_missing(group);
        member.at_fault = is_full ? component::create : component::join_state;
    }
}

/// What becomes of it is the administrator's affair: it may be busy, or refuse.
void Subnet::subscribes(const Request& request) {
    const auto info = request.as<InformInfo>();
    if (request.method != Method::set || subject_ == none || info[InformInfo::is_generic] != 1) return;
    const auto trap_number = info[InformInfo::trap_number];
    const bool is_on = info[InformInfo::subscribe] == 1, is_all = trap_number == 0xffff;
    const bool created = is_all || trap_number == trap::multicast_group_created;
    const bool deleted = is_all || trap_number == trap::multicast_group_deleted;
    const auto gid = info[InformInfo::gid];
    auto& requester = requester_at(request.lid);
    if (is_on) requester.subscribes = known_.now;
    if (gid.is_zero()) {
        if (created) requester.asks_of_creation = is_on;
        if (deleted) requester.asks_of_deletion = is_on;
        if (!is_on) requester.unsubscribed = known_.now;
        if (created && is_on) tell(EventKind::subscribes_created, subject_);
        if (requester.asks_of_creation && requester.asks_of_deletion) tell(EventKind::subscribes, subject_);
        return;
    }
    if (!gid.is_multicast()) return;
    const auto group = group_of(gid);
    const auto index = member_of(group, subject_);
    if (index == none) return;
    auto& asks_of = members_[index].asks_of;
    (is_on ? members_[index].subscribed : members_[index].unsubscribed) = known_.now;
    const auto bits = static_cast<std::uint8_t>((created ? 1 : 0) | (deleted ? 2 : 0));
    asks_of = static_cast<std::uint8_t>(is_on ? asks_of | bits : asks_of & ~bits);
    if (asks_of == 3) tell(EventKind::subscribes, subject_, group);
}

void Subnet::registered_anew(PortIndex port) {
    if (port == none) return;
    ports_[port].renewal = known_.now;
    ++sm_restarts_;
    sm_restarted_ = known_.now;
}

/// It has answered that it is asked to register anew: it must join its groups again, and subscribe again.
void Subnet::lapses(PortIndex port) {
    auto& one = ports_[port];
    if (one.renewal.order <= one.lapsed.order) return;
    one.lapsed = one.renewal;
    const auto of_lid = requesters_.find(one.lid);
    if (of_lid != none && requesters_[of_lid].subscribes.order < one.renewal.order) {
        auto& requester = requesters_[of_lid];
        requester.asks_of_creation = requester.asks_of_deletion = false;
        requester.unsubscribed = one.renewal;
    }
    change();
    // A router is one still, and what IP listens to has not changed.
    constexpr std::size_t most = 1024;
    std::size_t count = 0;
    for (auto index = one.first_member; index != none && count < most; index = members_[index].next_of_port, ++count) {
        const auto& member = members_[index];
        if (!member.joined_at || member.joined_at.order > one.lapsed.order) continue;
        const auto& mgid = groups_[member.group].mgid;
        const auto& link = links_[link_with(mgid)];
        if (one.is_router() && is_broadcast_gid(mgid)) tell(EventKind::becomes_router, port, none, link);
        if (member.listens) tell(EventKind::listens, port, member.group, link);
    }
}

}  // namespace ipoib::state
