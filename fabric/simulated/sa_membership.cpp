// SPDX-License-Identifier: GPL-2.0-or-later
// Joins and leaves. The statuses are those that OpenSM 3.3.23 was seen to give.
#include "fabric/simulated/sa_membership.hpp"

#include "fabric/simulated/sa_parameters.hpp"
#include "protocol/wire/mgid.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace ipoib::fabric::sa {
using namespace wire;
using M = McMemberRecord;
using C = M::component;

namespace {

constexpr std::uint8_t link_local = 2;

McRecord copy_of(const wire::View<M>& view) {
    McRecord record;
    std::copy_n(view.data(), M::size, record.octets.begin());
    return record.set(M::mtu_selector, selector::exactly)
        .set(M::rate_selector, selector::exactly)
        .set(M::lifetime_selector, selector::exactly);
}

}  // namespace

bool Membership::has_known_codes(const Request& request) {
    const auto asked = request.record<M>();
    if (request.gives(C::mtu | C::mtu_selector) && mtu_quantity.rank(asked[M::mtu]) == 0) return false;
    return !request.gives(C::rate | C::rate_selector) || rate_quantity.rank(asked[M::rate]) != 0;
}

bool Membership::has_moved(const Subject& subject) {
    if (!subject.group) return false;
    const auto at = subject.group->lids.find(subject.port->gid);
    return at != subject.group->lids.end() && at->second != subject.port->lid;
}

bool Membership::comes_again(const Request& request) {
    const auto now = std::pair{request.port->gid, std::uint64_t{request.header()[Mad::transaction_id]}};
    return std::exchange(last_, now) == now;
}

Membership::Subject Membership::subject_of(const Request& request) const {
    Subject subject;
    const auto asked = request.record<M>();
    const auto refuse = [&](std::uint16_t status) {
        subject.status = status;
        return subject;
    };
    const bool is_lapse = request.method() == Method::del && request.gives(C::mgid | C::port_gid) &&
                          groups_.lapses(SaLapse::leave_without_state_leaves);
    if (!request.gives(C::join) && !is_lapse) return refuse(sa_status::insufficient_components);
    if (!has_known_codes(request)) return refuse(sa_status::invalid_request);
    const auto prefix = request.port->gid.prefix();
    subject.port = find_port(subnet_, asked[M::port_gid], prefix);
    if (!subject.port) {
        constexpr std::uint64_t default_prefix = std::uint64_t{0xfe80} << 48;
        const auto asked_prefix = asked[M::port_gid].prefix();
        const bool is_here = asked_prefix == prefix || asked_prefix == default_prefix;
        return refuse(is_here ? sa_status::invalid_request : sa_status::invalid_gid);
    }
    subject.group = groups_.find(asked[M::mgid]);
    if (groups_.lapses(SaLapse::lid_change_ends_membership) && has_moved(subject)) {
        groups_.leave(*subject.group, subject.port->gid, 0);
        subject.group = groups_.find(asked[M::mgid]);
    }
    return subject;
}

/// A request about another port's membership. IBTA Vol 1, 15.2.5.17, o15-0.2.1.
bool Membership::may_act_for(const Request& request, const Subject& subject) const {
    if (!config_.behaviour.checks_proxy) return true;
    const bool is_own = subject.port->gid == request.port->gid;
    if (!is_told_of(*request.port, *subject.port)) return false;
    if (!subject.group || !subject.group->members.contains(subject.port->gid)) return true;
    if (groups_.lapses(SaLapse::lid_change_opens_membership) && has_moved(subject)) return true;
    if (groups_.lapses(SaLapse::proxy_opens_group) && !subject.group->proxies.empty()) return true;
    if (!subject.group->proxies.contains(subject.port->gid)) return is_own;
    return has_p_key(*request.port, subject.group->record[M::p_key]);
}

/// JoinState SendOnlyFullMember was reserved before IBA 1.3: one that does not offer it does not see it.
std::uint8_t Membership::asked_states(const Request& request) const {
    unsigned known = join_state::full_member | join_state::non_member | join_state::send_only_non_member;
    if (config_.behaviour.offers_send_only_full_member) known |= join_state::send_only_full_member;
    return static_cast<std::uint8_t>(request.record<M>()[M::join_state] & known);
}

/// RFC 4392, 1.3.2.1; IBTA Vol 1, 15.2.5.17, o15-0.1.9.
bool Membership::may_create(std::uint8_t states) const {
    if (config_.behaviour.creates_for_send_only) return states != 0;
    return (states & (join_state::full_member | join_state::send_only_full_member)) != 0;
}

/// `p_key` is the group's, or what it is to become. Membership may be limited. RFC 4391, 5.
bool Membership::is_p_key_right(const Request& request, const KnownPort& port, std::uint16_t p_key) const {
    if (!config_.behaviour.checks_p_key) return true;
    const auto asked = request.record<M>()[M::p_key];
    if (request.gives(C::p_key) && !is_same_partition(asked, p_key)) return false;
    const bool has_joined_one = has_p_key(port, p_key) || !config_.behaviour.checks_p_key_of_joined;
    return has_joined_one && has_p_key(*request.port, p_key);
}

bool Membership::is_mtu_right(const Request& request, const KnownPort& port, const McRecord& group) const {
    if (!config_.behaviour.checks_mtu) return true;
    const auto asked = request.record<M>();
    if (request.gives(C::mtu_selector) && !fulfils(mtu_quantity, asked[M::mtu_selector], asked[M::mtu], group[M::mtu]))
        return false;
    return mtu_quantity.rank(group[M::mtu]) <= mtu_quantity.rank(port.mtu);
}

bool Membership::is_rate_right(const Request& request, const KnownPort& port, const McRecord& group) const {
    if (!config_.behaviour.checks_rate) return true;
    const auto asked = request.record<M>();
    if (request.gives(C::rate_selector) &&
        !fulfils(rate_quantity, asked[M::rate_selector], asked[M::rate], group[M::rate]))
        return false;
    return rate_quantity.rank(group[M::rate]) <= rate_quantity.rank(port.rate);
}

/// Q_Key, SL and what goes into the GRH, as far as they are given.
bool Membership::has_same_traffic(const Request& request, const McRecord& group) const {
    const auto asked = request.record<M>();
    const auto differs = [&](std::uint64_t component, const auto& field) {
        return request.gives(component) && asked[field] != group[field];
    };
    const auto& behaviour = config_.behaviour;
    if (behaviour.checks_q_key && differs(C::q_key, M::q_key)) return false;
    if (behaviour.checks_sl && differs(C::sl, M::sl)) return false;
    return !behaviour.checks_flow || !(differs(C::traffic_class, M::traffic_class) ||
                                       differs(C::flow_label, M::flow_label) || differs(C::hop_limit, M::hop_limit));
}

/// The components that OpenSM does not compare. IBTA Vol 1, 15.2.5.17, o15-0.2.4.
bool Membership::matches_strictly(const Request& request, const McRecord& group) const {
    const auto asked = request.record<M>();
    if (request.gives(C::mlid) && asked[M::mlid] != group[M::mlid]) return false;
    if (request.gives(C::scope) && asked[M::scope] != group[M::scope]) return false;
    return !request.gives(C::lifetime | C::lifetime_selector) || asked[M::lifetime_selector] != selector::exactly ||
           asked[M::lifetime] == group[M::lifetime];
}

/// IBTA Vol 1, 15.2.5.17, o15-0.1.5.
bool Membership::is_mgid_right(const Request& request) const {
    const auto asked = request.record<M>();
    const auto gid = asked[M::mgid];
    if (!gid.is_multicast()) return false;
    const auto mgid = mgid_of(gid);
    if (!has_ipoib_signature(gid)) {
        if (mgid[Mgid::reserved] != 0) return false;
        if (mgid[Mgid::signature] == own_signature && mgid[Mgid::scope] == link_local) return false;
    }
    if (!config_.behaviour.is_strict) return true;
    if (mgid[Mgid::reserved] != 0 || !is_full_member(asked[M::p_key])) return false;
    if (request.gives(C::scope) && asked[M::scope] != mgid[Mgid::scope]) return false;
    return !has_ipoib_signature(gid) || (mgid[Mgid::transient] && mgid[Mgid::p_key] == asked[M::p_key]);
}

const HeldGroup* Membership::link_of(const Gid& gid) const {
    const auto mgid = mgid_of(gid);
    if (!has_ipoib_signature(gid) || !is_full_member(mgid[Mgid::p_key])) return nullptr;
    return groups_.find(broadcast_gid(mgid[Mgid::p_key], mgid[Mgid::scope]));
}

/// A group of an IPoIB link must have the parameters of the link's broadcast group, which must exist. RFC 4391, 10.
bool Membership::suits_link(const Request& request, const McRecord& record) const {
    const auto mgid = record[M::mgid];
    if (!has_ipoib_signature(mgid) || is_broadcast_gid(mgid)) return true;
    const auto* link = link_of(mgid);
    if (!link) return false;
    if (config_.behaviour.is_strict && record[M::mtu] != link->record[M::mtu]) return false;
    return has_same_traffic(request, link->record) && is_p_key_right(request, *request.port, link->record[M::p_key]);
}

/// The record of the group that a request creates; nothing when it cannot be.
std::optional<McRecord> Membership::new_record(const Request& request, const KnownPort& port) {
    const auto asked = request.record<M>();
    const auto mtu = request.gives(C::mtu | C::mtu_selector)
                         ? choose_for_group(mtu_quantity, asked[M::mtu_selector], asked[M::mtu], port.mtu)
                         : std::optional{port.mtu};
    const auto rate = request.gives(C::rate | C::rate_selector)
                          ? choose_for_group(rate_quantity, asked[M::rate_selector], asked[M::rate], port.rate)
                          : std::optional{port.rate};
    if (!mtu || !rate) return std::nullopt;
    auto record = copy_of(asked);
    if (asked[M::mgid].is_zero()) {
        const auto scope = request.gives(C::scope) ? asked[M::scope] : link_local;
        record.set(M::mgid, groups_.unused_mgid(scope, request.port->gid.prefix()));
    } else if (config_.behaviour.checks_mgid && !is_mgid_right(request)) {
        return std::nullopt;
    }
    record.set(M::mtu, *mtu).set(M::rate, *rate);
    if (!request.gives(C::lifetime)) record.set(M::lifetime, usual_lifetime);
    if (!request.gives(C::hop_limit)) {
        const auto* link = link_of(record[M::mgid]);
        record.set(M::hop_limit, link ? link->record[M::hop_limit] : std::uint8_t{0});
    }
    if (!request.gives(C::scope)) record.set(M::scope, mgid_of(record[M::mgid])[Mgid::scope]);
    if (!request.gives(C::mlid) || config_.behaviour.is_strict) record.set(M::mlid, 0);
    return record;
}

std::uint16_t Membership::create(const Request& request, Subject& subject) {
    if (!may_create(asked_states(request))) return sa_status::invalid_request;
    if (config_.behaviour.demands_components && !request.gives(C::create)) return sa_status::insufficient_components;
    const auto record = new_record(request, *subject.port);
    if (!record || !suits_link(request, *record) || !is_p_key_right(request, *subject.port, (*record)[M::p_key]) ||
        !is_mtu_right(request, *subject.port, *record) || !is_rate_right(request, *subject.port, *record)) {
        if (groups_.lapses(SaLapse::refused_creation_keeps_mlid)) groups_.waste_mlid();
        return sa_status::invalid_request;
    }
    subject.group = groups_.create(*record, false);
    return subject.group ? mad_status::ok : sa_status::no_resources;
}

/// A join to a group that exists. IBTA Vol 1, 15.2.5.17, o15-0.2.4.
std::uint16_t Membership::check(const Request& request, const Subject& subject) const {
    const auto& group = subject.group->record;
    const bool has_state = asked_states(request) != 0 || !config_.behaviour.demands_join_state;
    const bool is_right = has_state && has_same_traffic(request, group) &&
                          is_p_key_right(request, *subject.port, group[M::p_key]) &&
                          is_mtu_right(request, *subject.port, group) && is_rate_right(request, *subject.port, group) &&
                          (!config_.behaviour.is_strict || matches_strictly(request, group));
    return is_right ? mad_status::ok : sa_status::invalid_request;
}

/// What a lapse makes of a join that is refused.
void Membership::refused(const Request& request, const Subject& subject) {
    if (!subject.group) return;
    auto& group = *subject.group;
    const auto before = Groups::states(group, subject.port->gid);
    if (groups_.lapses(SaLapse::refused_join_adds_states) && before != 0)
        groups_.join(group, *subject.port, before | asked_states(request), false);
    if (groups_.lapses(SaLapse::refused_mtu_lowers_group) && subject.port->mtu < group.record[M::mtu])
        group.record.set(M::mtu, subject.port->mtu);
}

Reply Membership::join(const Request& request) {
    auto subject = subject_of(request);
    if (subject.status != mad_status::ok) return Reply::refuse(subject.status);
    const bool is_again = comes_again(request);
    if (!may_act_for(request, subject)) {
        if (groups_.lapses(SaLapse::refused_proxy_opens_member) && subject.group)
            subject.group->proxies.insert(subject.port->gid);
        return Reply::refuse(sa_status::invalid_request);
    }
    const auto status = subject.group ? check(request, subject) : create(request, subject);
    if (status != mad_status::ok) {
        refused(request, subject);
        return Reply::refuse(status);
    }
    if (is_again && groups_.lapses(SaLapse::doubled_creation_takes_two)) groups_.waste_mlid();

    auto& group = *subject.group;
    auto states = asked_states(request);
    const auto before = Groups::states(group, subject.port->gid);
    if (before == states && groups_.lapses(SaLapse::rejoin_drops_others)) groups_.drop_others(group);
    const bool is_third = std::popcount(before) > 1 && groups_.lapses(SaLapse::third_join_replaces);
    if (config_.behaviour.merges_join_states)
        states |= is_third ? static_cast<std::uint8_t>(before & (before - 1)) : before;
    groups_.join(group, *subject.port, states, subject.port->gid != request.port->gid);

    const auto asked = request.record<M>();
    auto record = group.record;
    record.set(M::port_gid, asked[M::port_gid]).set(M::join_state, states).set(M::proxy_join, asked[M::proxy_join]);
    if (!config_.behaviour.answers_with_group_mtu) record.set(M::mtu, subject.port->mtu);
    return Reply::of(record);
}

/// What a leave takes from who holds these join states.
std::uint8_t Membership::left_states(const Request& request, std::uint8_t held) {
    const auto asked = asked_states(request);
    if (groups_.lapses(SaLapse::leave_without_state_leaves) && !request.gives(C::join_state)) return held;
    const bool is_more = comes_again(request) && groups_.lapses(SaLapse::doubled_leave_takes_more);
    return is_more && (asked & held) != asked ? static_cast<std::uint8_t>(held & -held) : asked;
}

/// IBTA Vol 1, 15.2.5.17, o15-0.1.14.
Reply Membership::leave(const Request& request) {
    const auto subject = subject_of(request);
    if (subject.status != mad_status::ok) return Reply::refuse(subject.status);
    if (!subject.group) return Reply::refuse(sa_status::invalid_request);
    const auto held = Groups::states(*subject.group, subject.port->gid), given = left_states(request, held);
    const bool leaves_what_it_holds = (given != 0 && (given & held) == given) || !config_.behaviour.checks_leave;
    if (!leaves_what_it_holds || !may_act_for(request, subject)) {
        if (groups_.lapses(SaLapse::refused_leave_frees_mlid)) groups_.free_mlid_of(*subject.group);
        return Reply::refuse(sa_status::invalid_request);
    }

    constexpr std::uint8_t both = join_state::full_member | join_state::send_only_full_member;
    const bool is_lapse = (groups_.lapses(SaLapse::union_keeps_mlid) && (held & both) == both &&
                           (given & both) == join_state::full_member) ||
                          (groups_.lapses(SaLapse::union_of_three_ends) && std::popcount(held) > 2) ||
                          (groups_.lapses(SaLapse::wide_leave_leaves_all) && request.gives(C::p_key));
    const auto left = config_.behaviour.leaves_part_by_part && !is_lapse ? given : held;
    groups_.keep_next_mlid(
        (is_lapse && groups_.lapses(SaLapse::union_keeps_mlid)) ||
        (groups_.lapses(SaLapse::proxy_leave_keeps_mlid) && subject.port->gid != request.port->gid) ||
        (groups_.lapses(SaLapse::send_only_full_keeps_mlid) && (given & join_state::send_only_full_member) != 0));
    const auto rest = static_cast<std::uint8_t>(held & ~left);
    const auto p_key = subject.group->record[M::p_key];
    const bool is_member = groups_.leave(*subject.group, subject.port->gid, rest);
    groups_.keep_next_mlid(false);
    if (groups_.lapses(SaLapse::limited_leave_leaves_all) &&
        std::ranges::find(subject.port->p_keys, p_key & 0x7fff) != subject.port->p_keys.end())
        groups_.prune(subject.port->gid);
    return Reply::of(copy_of(request.record<M>()).set(M::join_state, is_member ? rest : std::uint8_t{0}));
}

}  // namespace ipoib::fabric::sa
