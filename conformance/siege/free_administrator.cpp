// SPDX-License-Identifier: GPL-2.0-or-later
// Its duties, and its liberties.
#include "conformance/siege/free_administrator.hpp"

#include "conformance/siege/groups.hpp"
#include "protocol/wire/notice.hpp"

#include <algorithm>
#include <array>

namespace ipoib::conformance::siege {
using namespace wire;
using sa_model::Seen;
using M = McMemberRecord;
using C = M::component;

namespace {

constexpr std::uint16_t first_partition = 0xffff, second_partition = 0x8001, limited = 0x7fff;
constexpr std::uint16_t first_mlid = 0xc000, mlid_count = 12;
constexpr std::size_t room = 6, subscription_room = 5;
/// A selector or its value, one of them alone.
bool gives_half(const sa_model::Request& request) {
    constexpr std::array<std::pair<std::uint64_t, std::uint64_t>, 3> pairs{
        {{C::mtu, C::mtu_selector}, {C::rate, C::rate_selector}, {C::lifetime, C::lifetime_selector}}};
    return std::ranges::any_of(
        pairs, [&](const auto& pair) { return request.gives(pair.first) != request.gives(pair.second); });
}

constexpr unsigned full = join_state::full_member, fourth = join_state::send_only_full_member;

}  // namespace

FreeAdministrator::FreeAdministrator(std::uint64_t seed) : random_(seed), mlids_(static_cast<Mlids>(seed % mlid_ways)) {
    for (auto* liberty : {&lets_limited_join_, &takes_proxies_, &tells_limited_, &tells_each_subscription_,
                          &reports_configured_, &drops_others_of_configured_, &remembers_answers_, &follows_lids_,
                          &minds_components_, &knows_fourth_state_, &minds_halves_, &tells_other_bit_})
        *liberty = coin();
    const std::array<std::vector<std::uint16_t>, 5> tables{{{first_partition, second_partition},
                                                            {first_partition, second_partition},
                                                            {first_partition},
                                                            {first_partition & limited, second_partition},
                                                            {first_partition}}};
    for (const auto& table : tables)
        ports_.push_back({.gid = Gid::of(default_subnet_prefix, 0x0002c90300200000u + ports_.size()), .p_keys = table});
    ports_.back().mtu = 3;
    for (const auto p_key : {first_partition, second_partition})
        configured_.push_back(Record{}
                                  .set(M::mgid, broadcast_gid(p_key, 2))
                                  .set(M::q_key, 0x0b1b)
                                  .set(M::p_key, p_key)
                                  .set(M::mtu, 4)
                                  .set(M::rate, 3)
                                  .set(M::mtu_selector, selector::exactly)
                                  .set(M::rate_selector, selector::exactly)
                                  .set(M::lifetime_selector, selector::exactly)
                                  .set(M::scope, 2));
}

Subject::Abilities FreeAdministrator::abilities() const {
    std::vector<unsigned> groups;
    for (unsigned i = 0; i < group_names.size(); ++i) groups.push_back(i);
    const auto ports = static_cast<unsigned>(ports_.size());
    return {.ports = ports,
            .askers = ports,
            .groups = std::move(groups),
            .ports_vanish = true,
            .ports_move = true,
            .restarts = true,
            .hears = true,
            .tells_members = true};
}

void FreeAdministrator::configure() {
    for (const auto& record : configured_) {
        auto& group = groups_[record[M::mgid]];
        group.is_configured = true;
        group.record = record;
        group.record.set(M::mlid, new_mlid(record[M::mgid]));
    }
}

Ground FreeAdministrator::begin(bool is_anew) {
    if (is_anew || groups_.empty()) {
        groups_.clear();
        subscribers_.clear();
        heard_.clear();
        freed_.clear();
        leases_.clear();
        configure();
    }
    for (auto& port : ports_) port.is_there = true;
    Ground ground{.facts = {.ports = {},
                            .administrative = configured_,
                            .offers_send_only_full_member = knows_fourth_state_,
                            .room = room,
                            .subscriptions = subscription_room},
                  .groups = {},
                  .probes = {}};
    for (const auto& port : ports_)
        ground.facts.ports.push_back({.gid = port.gid, .p_keys = port.p_keys, .mtu = port.mtu});
    add_groups(ground, group_number_++, Broadcast::included);
    return ground;
}

bool FreeAdministrator::is_in(unsigned port, std::uint16_t p_key, bool in_full) const {
    return std::ranges::any_of(ports_[port].p_keys, [&](std::uint16_t entry) {
        return ((entry ^ p_key) & limited) == 0 && (!in_full || (entry & ~limited) != 0);
    });
}

/// Some partition that both are in, and one at least in full. IBTA Vol 1, 10.9.3.
bool FreeAdministrator::meet(unsigned one, unsigned other) const {
    return one == other || std::ranges::any_of(ports_[one].p_keys, [&](std::uint16_t entry) {
               return is_in(other, entry, false) && ((entry & ~limited) != 0 || is_in(other, entry, true));
           });
}

bool FreeAdministrator::is_held(const Group& group) const {
    return std::ranges::any_of(group.members,
                               [](const auto& entry) { return (entry.second.states & (full | fourth)) != 0; });
}

bool FreeAdministrator::is_used(std::uint16_t mlid) const {
    return std::ranges::any_of(groups_, [&](const auto& entry) { return entry.second.record[M::mlid] == mlid; });
}

std::uint16_t FreeAdministrator::new_mlid(const Gid& mgid) {
    std::vector<std::uint16_t> free;
    for (std::uint16_t mlid = first_mlid; mlid < first_mlid + mlid_count; ++mlid)
        if (!is_used(mlid)) free.push_back(mlid);
    const auto take = [&] {
        switch (mlids_) {
            case Mlids::lowest:
                return free.front();
            case Mlids::highest:
                return free.back();
            case Mlids::in_turn: {
                const auto next = std::ranges::upper_bound(free, last_mlid_);
                return next == free.end() ? free.front() : *next;
            }
            case Mlids::any:
                return free[below(static_cast<unsigned>(free.size()))];
            case Mlids::last_freed:
            case Mlids::first_freed: {
                std::erase_if(freed_, [&](std::uint16_t mlid) { return is_used(mlid); });
                if (freed_.empty()) return free.front();
                return mlids_ == Mlids::last_freed ? freed_.back() : freed_.front();
            }
            case Mlids::leased: {
                if (const auto at = leases_.find(mgid); at != leases_.end() && !is_used(at->second)) return at->second;
                const auto is_let = [&](std::uint16_t mlid) {
                    return std::ranges::any_of(leases_, [&](const auto& lease) { return lease.second == mlid; });
                };
                const auto fresh = std::ranges::find_if_not(free, is_let);
                return fresh == free.end() ? free.front() : *fresh;
            }
            case Mlids::shared:
                break;
        }
        return static_cast<std::uint16_t>(first_mlid + mgid.octets.back() % 3);
    };
    last_mlid_ = take();
    std::erase(freed_, last_mlid_);
    leases_[mgid] = last_mlid_;
    return last_mlid_;
}

FreeAdministrator::Answer FreeAdministrator::refused(std::uint16_t status) {
    constexpr std::array<std::uint16_t, 7> any{sa_status::invalid_request,
                                               sa_status::insufficient_components,
                                               sa_status::denied,
                                               0x0300,
                                               0x0400,
                                               0x000c,
                                               0x001c};
    return {.is_answered = true, .status = status != 0 ? status : any.at(below(any.size())), .record = {}};
}

FreeAdministrator::Record FreeAdministrator::told(Record record) {
    if (tells_other_bit_ && coin()) record.set(M::p_key, static_cast<std::uint16_t>(record[M::p_key] ^ ~limited));
    return record;
}

FreeAdministrator::Answer FreeAdministrator::ask(const Request& request) {
    // Who remembers what it answered says it again.
    if (std::exchange(is_repeated_, false) && remembers_answers_ && coin()) return last_answer_;
    return last_answer_ = answer(request);
}

FreeAdministrator::Answer FreeAdministrator::answer(const Request& request) {
    if (!request.gives(C::mgid) || !request.gives(C::port_gid) || !request.gives(C::join_state)) return refused();
    const auto gid = request.record[M::port_gid];
    const auto at = std::ranges::find_if(ports_, [&](const Port& port) { return port.is_there && port.gid == gid; });
    if (at == ports_.end()) return refused();
    const auto of = static_cast<unsigned>(at - ports_.begin());
    unsigned states = request.record[M::join_state];
    if (!knows_fourth_state_) {
        if ((states & fourth) != 0 && coin()) return refused();
        states &= ~fourth;
    }
    if (states == 0) return refused();
    return request.is_leave ? leave(request, of, states) : join(request, of, states);
}

bool FreeAdministrator::may_speak_for(const Request& request, unsigned of, const Group* group) {
    if (request.asker == of) return true;
    if (!takes_proxies_ || !meet(request.asker, of)) return false;
    if (!group || !group->members.contains(of)) return true;
    return group->members.at(of).is_proxy && is_in(request.asker, group->record[M::p_key], false);
}

/// The components that are given are the group's.
bool FreeAdministrator::suits(const Request& request, const Group& group, unsigned of) {
    const auto& record = request.record;
    const auto differs = [&](std::uint64_t component, const auto& field) {
        return request.gives(component) && record[field] != group.record[field];
    };
    if (minds_halves_ && gives_half(request)) return false;
    if (request.gives(C::p_key) && ((record[M::p_key] ^ group.record[M::p_key]) & limited) != 0) return false;
    if (differs(C::q_key, M::q_key) || differs(C::sl, M::sl) || differs(C::traffic_class, M::traffic_class) ||
        differs(C::flow_label, M::flow_label) || differs(C::hop_limit, M::hop_limit))
        return false;
    const bool names_mtu = request.gives(C::mtu | C::mtu_selector);
    const bool names_rate = request.gives(C::rate | C::rate_selector);
    if (names_mtu && record[M::mtu_selector] == selector::exactly && record[M::mtu] != group.record[M::mtu])
        return false;
    if (names_rate && record[M::rate_selector] == selector::exactly && record[M::rate] != group.record[M::rate])
        return false;
    if (ports_[of].mtu < group.record[M::mtu]) return false;
    return !minds_components_ || !(differs(C::mlid, M::mlid) || differs(C::scope, M::scope));
}

std::optional<FreeAdministrator::Group> FreeAdministrator::created(const Request& request, unsigned of,
                                                                   unsigned states) {
    const auto& asked = request.record;
    if ((states & (full | fourth)) == 0 || !request.gives(C::create)) return {};
    if (minds_halves_ && gives_half(request)) return {};
    auto mgid = asked[M::mgid];
    if (mgid.is_zero()) {
        constexpr std::uint64_t own = 0xff12'a01b'fe80'0000;
        do mgid = Gid::of(own, coin() ? ++last_own_ : random_() >> 1);
        while (groups_.contains(mgid));
    } else if (!mgid.is_multicast()) {
        return {};
    }
    const bool is_limited = !is_in(of, asked[M::p_key], true) || !is_in(request.asker, asked[M::p_key], true);
    if (is_limited &&
        (!lets_limited_join_ || !is_in(of, asked[M::p_key], false) || !is_in(request.asker, asked[M::p_key], false)))
        return {};
    Group group{.record = asked};
    const bool names_mtu = request.gives(C::mtu | C::mtu_selector) && asked[M::mtu_selector] == selector::exactly;
    const bool names_rate = request.gives(C::rate | C::rate_selector) && asked[M::rate_selector] == selector::exactly;
    if (names_mtu && asked[M::mtu] > ports_[of].mtu) return {};
    group.record.set(M::mgid, mgid)
        .set(M::port_gid, {})
        .set(M::join_state, 0)
        .set(M::proxy_join, false)
        .set(M::mtu, names_mtu ? asked[M::mtu] : ports_[of].mtu)
        .set(M::mtu_selector, selector::exactly)
        .set(M::rate_selector, selector::exactly);
    if (!names_rate) group.record.set(M::rate, static_cast<std::uint8_t>(2 + below(2)));
    if (!request.gives(C::hop_limit)) group.record.set(M::hop_limit, static_cast<std::uint8_t>(below(256)));
    // An IPoIB group has the parameters of its link, and a link.
    if (has_ipoib_signature(mgid) && coin()) {
        const auto link = groups_.find(broadcast_gid(mgid_of(mgid)[Mgid::p_key], mgid_of(mgid)[Mgid::scope]));
        if (link == groups_.end() || asked[M::q_key] != link->second.record[M::q_key] ||
            ((asked[M::p_key] ^ link->second.record[M::p_key]) & limited) != 0 ||
            asked[M::sl] != link->second.record[M::sl] || asked[M::flow_label] != link->second.record[M::flow_label])
            return {};
    }
    return group;
}

FreeAdministrator::Answer FreeAdministrator::join(const Request& request, unsigned of, unsigned states) {
    auto at = groups_.find(request.record[M::mgid]);
    auto* known = at == groups_.end() ? nullptr : &at->second;
    if (!may_speak_for(request, of, known)) return refused();
    if (known) {
        const auto p_key = known->record[M::p_key];
        const bool is_limited = !is_in(of, p_key, true) || !is_in(request.asker, p_key, true);
        if (is_limited && (!lets_limited_join_ || !is_in(of, p_key, false) || !is_in(request.asker, p_key, false)))
            return refused();
        if (!suits(request, *known, of)) return refused();
    } else {
        auto group = created(request, of, states);
        if (!group) return refused();
        if (groups_.size() >= room) return refused(sa_status::no_resources);
        const auto mgid = group->record[M::mgid];
        group->record.set(M::mlid, new_mlid(mgid));
        known = &groups_.emplace(mgid, std::move(*group)).first->second;
    }
    const bool was_held = is_held(*known);
    auto& member = known->members[of];
    const bool is_own = request.asker == of;
    if (member.states == 0)
        member.is_proxy = !is_own;
    else if (is_own && coin())
        member.is_proxy = false;
    member.states |= states;
    auto record = told(known->record);
    record.set(M::port_gid, ports_[of].gid)
        .set(M::join_state, static_cast<std::uint8_t>(member.states))
        .set(M::proxy_join, coin() && member.is_proxy);
    if (!was_held && is_held(*known)) report(trap::multicast_group_created, *known);
    return {.is_answered = true, .status = 0, .record = record};
}

FreeAdministrator::Answer FreeAdministrator::leave(const Request& request, unsigned of, unsigned states) {
    const auto at = groups_.find(request.record[M::mgid]);
    if (at == groups_.end() || !at->second.members.contains(of)) return refused();
    auto& group = at->second;
    auto& member = group.members.at(of);
    if ((member.states & states) != states) return refused();
    if (request.asker != of &&
        (!member.is_proxy || !is_in(request.asker, group.record[M::p_key], false) || !meet(request.asker, of)))
        return refused();
    if (minds_components_ && (request.mask & ~C::join) != 0 && !suits(request, group, of)) return refused();
    const bool was_held = is_held(group);
    member.states &= ~states;
    const auto rest = static_cast<std::uint8_t>(member.states);
    if (rest == 0) group.members.erase(of);
    auto record = coin() ? request.record : group.record;
    record.set(M::port_gid, ports_[of].gid).set(M::join_state, rest);
    settle(request.record[M::mgid], was_held);
    return {.is_answered = true, .status = 0, .record = record};
}

void FreeAdministrator::end(const Gid& mgid) {
    freed_.push_back(groups_.at(mgid).record[M::mlid]);
    groups_.erase(mgid);
}

void FreeAdministrator::settle(const Gid& mgid, bool was_held) {
    auto& group = groups_.at(mgid);
    if (is_held(group) || !was_held) return;
    report(trap::multicast_group_deleted, group);
    if (!group.is_configured) return end(mgid);
    if (drops_others_of_configured_) group.members.clear();
}

void FreeAdministrator::report(std::uint16_t trap, const Group& group) {
    if (group.is_configured && !reports_configured_) return;
    std::set<unsigned> told;
    for (const auto& one : subscribers_) {
        if ((one.trap != trap && one.trap != trap::all) || !one.is_reached || !ports_[one.port].is_there) continue;
        const auto p_key = group.record[M::p_key];
        if (!is_in(one.port, p_key, !tells_limited_)) continue;
        if (!told.insert(one.port).second && !tells_each_subscription_) continue;
        heard_.push_back({one.port, trap, group.record[M::mgid]});
    }
}

FreeAdministrator::Answer FreeAdministrator::subscribe(unsigned port, std::uint16_t trap, bool begins) {
    is_repeated_ = false;
    // Of a port that has moved the old subscription is another one, unless it went with it.
    const auto at = std::ranges::find_if(
        subscribers_, [&](const Subscriber& one) { return one.port == port && one.trap == trap && one.is_reached; });
    if (!begins) {
        if (at == subscribers_.end()) return refused();
        subscribers_.erase(at);
    } else if (at == subscribers_.end()) {
        if (subscribers_.size() >= subscription_room) return refused(sa_status::no_resources);
        subscribers_.push_back({port, trap});
    }
    return {.is_answered = true, .status = 0, .record = {}};
}

std::vector<Seen> FreeAdministrator::look(const Gid& mgid) {
    std::vector<Seen> all(ports_.size());
    const auto at = groups_.find(mgid);
    if (at == groups_.end()) return all;
    for (unsigned port = 0; port < all.size(); ++port) {
        all[port] = {.exists = true, .states = 0, .is_proxy = false, .record = told(at->second.record)};
        const auto member = at->second.members.find(port);
        if (member == at->second.members.end()) continue;
        all[port].states = static_cast<std::uint8_t>(member->second.states);
        all[port].is_proxy = member->second.is_proxy;
    }
    return all;
}

std::string FreeAdministrator::set_port(unsigned port, bool is_there) {
    ports_[port].is_there = is_there;
    if (is_there) return {};
    std::erase_if(subscribers_, [&](const Subscriber& one) { return one.port == port; });
    std::vector<Gid> left;
    for (const auto& [mgid, group] : groups_)
        if (group.members.contains(port)) left.push_back(mgid);
    for (const auto& mgid : left) {
        auto& group = groups_.at(mgid);
        const bool was_held = is_held(group);
        group.members.erase(port);
        settle(mgid, was_held);
    }
    return {};
}

std::string FreeAdministrator::move_port(unsigned port) {
    if (follows_lids_) return {};
    if (coin()) std::erase_if(subscribers_, [&](const Subscriber& one) { return one.port == port; });
    for (auto& one : subscribers_)
        if (one.port == port) one.is_reached = false;
    return {};
}

std::string FreeAdministrator::restart() {
    if (coin()) return {};
    groups_.clear();
    subscribers_.clear();
    freed_.clear();
    leases_.clear();
    configure();
    return {};
}

}  // namespace ipoib::conformance::siege
