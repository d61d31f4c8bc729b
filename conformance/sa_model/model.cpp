// SPDX-License-Identifier: GPL-2.0-or-later
// The state, and what changes it.
#include "conformance/sa_model/model.hpp"

#include "protocol/requirements/iba.hpp"
#include "protocol/requirements/rfc4391.hpp"
#include "protocol/requirements/rfc4392.hpp"
#include "protocol/wire/text.hpp"

#include <algorithm>
#include <utility>

namespace ipoib::conformance::sa_model {
using namespace wire;
using M = McMemberRecord;

namespace {

constexpr std::uint8_t holding = join_state::full_member | join_state::send_only_full_member;
/// MLIDs. IBTA Vol 1, 4.1.3.
constexpr std::uint16_t first_mlid = 0xc000, last_mlid = 0xfffe;

/// The part that is the group's.
Record of_group(Record record) { return record.set(M::port_gid, {}).set(M::join_state, 0).set(M::proxy_join, false); }

/// What every member's packets have: as the group has it, so must whoever asks and is told. The membership bit of a
/// P_Key is a port's, not a group's.
std::string difference(const Record& one, const Record& other) {
    std::string all;
    const auto look = [&](const auto& field) {
        if (one[field] != other[field]) all += (all.empty() ? "" : ", ") + std::string(field.name);
    };
    look(M::q_key);
    if (!is_same_partition(one[M::p_key], other[M::p_key])) all += (all.empty() ? "" : ", ") + std::string("P_Key");
    look(M::mtu);
    look(M::rate);
    look(M::sl);
    look(M::traffic_class);
    look(M::flow_label);
    look(M::hop_limit);
    return all;
}

std::string state_text(unsigned states) { return hex(states, 1); }

/// RFC 4391 binds the groups of IP alone.
const requirements::Requirement* of_ip(const Gid& mgid, const requirements::Requirement& requirement) {
    return has_ipoib_signature(mgid) ? &requirement : nullptr;
}
/// A selector without its value, or a value without its selector: what becomes of such a request is not said.
bool gives_half(const Request& request) {
    using C = M::component;
    return request.gives(C::mtu) != request.gives(C::mtu_selector) ||
           request.gives(C::rate) != request.gives(C::rate_selector) ||
           request.gives(C::lifetime) != request.gives(C::lifetime_selector);
}

/// RFC 4392 has three join states; the fourth is IBA 1.3's.
const requirements::Requirement* of_states(unsigned differing) {
    constexpr unsigned of_rfc_4392 =
        join_state::full_member | join_state::non_member | join_state::send_only_non_member;
    return (differing & of_rfc_4392) != 0 ? &rfc4392::join_state_union : nullptr;
}

}  // namespace

bool Group::is_held() const noexcept {
    return std::ranges::any_of(members, [](const auto& entry) { return (entry.second.states & holding) != 0; });
}

Model::Model(Facts facts) : facts_(std::move(facts)) { restart(); }

void Model::restart() {
    groups_.clear();
    subscriptions_.clear();
    due_.clear();
    for (const auto& record : facts_.administrative)
        groups_[record[M::mgid]] = {.record = of_group(record).set(M::mlid, 0), .is_administrative = true};
    room_seen_ = std::max(room_seen_, groups_.size());
}

const Group* Model::find(const Gid& mgid) const {
    const auto at = groups_.find(mgid);
    return at == groups_.end() ? nullptr : &at->second;
}

std::uint8_t Model::states(const Gid& mgid, unsigned port) const {
    const auto* group = find(mgid);
    if (!group) return 0;
    const auto at = group->members.find(port);
    return at == group->members.end() ? std::uint8_t{0} : at->second.states;
}

std::optional<unsigned> Model::port_of(const Gid& gid) const {
    for (unsigned i = 0; i < facts_.ports.size(); ++i)
        if (facts_.ports[i].is_there && facts_.ports[i].gid == gid) return i;
    return {};
}

bool Model::is_in(unsigned port, std::uint16_t p_key) const {
    return std::ranges::any_of(facts_.ports[port].p_keys,
                               [&](std::uint16_t entry) { return is_same_partition(entry, p_key); });
}

bool Model::is_full_member(unsigned port, std::uint16_t p_key) const {
    return std::ranges::any_of(facts_.ports[port].p_keys, [&](std::uint16_t entry) {
        return is_same_partition(entry, p_key) && wire::is_full_member(entry);
    });
}

/// Two limited members cannot; a port asks for itself whatever it is. IBTA Vol 1, 10.9.3.
bool Model::can_communicate(unsigned one, unsigned other) const {
    if (one == other) return true;
    return std::ranges::any_of(facts_.ports[one].p_keys, [&](std::uint16_t entry) {
        return is_in(other, entry) && (wire::is_full_member(entry) || is_full_member(other, entry));
    });
}

std::uint8_t Model::asked_states(const Request& request) const noexcept {
    const unsigned asked = request.record[M::join_state];
    return static_cast<std::uint8_t>(
        facts_.offers_send_only_full_member ? asked : asked & ~unsigned{join_state::send_only_full_member});
}

Expected Model::expected(const Request& request) const {
    if (!request.gives(M::component::join))
        return {Verdict::refuse, "without MGID, PortGID or JoinState a request is refused (15.2.5.17.2)"};
    if (asked_states(request) == 0)
        return {Verdict::refuse, "without a join state a request is refused", &iba::join_without_state};
    const auto port = port_of(request.record[M::port_gid]);
    if (!port) return {Verdict::refuse, "a request about a port that is not there is refused (15.2.5.17.2)"};
    if (!can_communicate(request.asker, *port))
        return {Verdict::refuse, "a request about a port of no common partition is refused (o15-0.2.1)",
                &iba::own_membership_protected};
    const bool is_new_to_port = request.record[M::join_state] != asked_states(request);
    const auto wanted = request.is_leave ? expected_leave(request, *port) : expected_join(request, *port);
    if (is_new_to_port && wanted.verdict == Verdict::grant) return {};
    return wanted;
}

/// Whether another port may ask for this one. IBTA Vol 1, 15.2.5.17, o15-0.2.1.
std::optional<Expected> Model::foreign(const Request& request, unsigned port, const Group& group) const {
    if (request.asker == port) return {};
    const auto at = group.members.find(port);
    if (at == group.members.end() || at->second.proxy == Proxy::open) return Expected{};
    if (at->second.proxy == Proxy::no)
        return Expected{Verdict::refuse, "a membership that a port asked for itself is its own (o15-0.2.1)",
                        &iba::own_membership_protected};
    if (!is_in(request.asker, group.record[M::p_key]))
        return Expected{Verdict::refuse, "who is not in the partition has no part in a proxy's membership (o15-0.2.1)",
                        &iba::own_membership_protected};
    return {};
}

/// IBTA Vol 1, 15.2.5.17, o15-0.1.14.
Expected Model::expected_leave(const Request& request, unsigned port) const {
    const auto* group = find(request.record[M::mgid]);
    const auto asked = asked_states(request);
    const auto held = states(request.record[M::mgid], port);
    if (!group || (asked & held) != asked) {
        if (group && group->is_open) return {};
        return {Verdict::refuse, "a leave with join states that the port has not is refused (o15-0.1.14)",
                &iba::leave_of_what_is_not_held};
    }
    if (const auto verdict = foreign(request, port, *group)) return *verdict;
    // Whether the group's parameters may be given, too, and whether they are looked at, is not said.
    if (group->is_open || (request.mask & ~M::component::join) != 0) return {};
    return {Verdict::grant, "a leave with join states that the port has is granted (o15-0.1.14)",
            &rfc4392::join_state_union};
}

/// What is given must be the group's. IBTA Vol 1, 15.2.5.17, o15-0.2.4.
std::optional<Expected> Model::mismatch(const Request& request, const Group& group) const {
    using C = M::component;
    const auto differs = [&](std::uint64_t component, const auto& field) {
        return request.gives(component) && request.record[field] != group.record[field];
    };
    const auto refused = [](std::string_view why, const requirements::Requirement& requirement) {
        return Expected{Verdict::refuse, why, &requirement};
    };
    if (request.gives(C::p_key) && !is_same_partition(request.record[M::p_key], group.record[M::p_key]))
        return refused("a join with another P_Key than the group's is refused", iba::join_with_other_p_key);
    if (differs(C::q_key, M::q_key))
        return refused("a join with another Q_Key than the group's is refused", iba::join_with_other_q_key);
    if (differs(C::sl, M::sl))
        return refused("a join with another SL than the group's is refused", iba::join_with_other_sl);
    if (differs(C::traffic_class, M::traffic_class) || differs(C::flow_label, M::flow_label) ||
        differs(C::hop_limit, M::hop_limit))
        return refused("a join with another TClass, FlowLabel or HopLimit than the group's is refused",
                       iba::join_with_other_flow);
    const bool is_exact_rate =
        request.gives(C::rate | C::rate_selector) && request.record[M::rate_selector] == selector::exactly;
    if (is_exact_rate && differs(C::rate, M::rate))
        return refused("a join that asks for another rate than the group's is refused", iba::join_with_other_rate);
    const bool is_exact_mtu =
        request.gives(C::mtu | C::mtu_selector) && request.record[M::mtu_selector] == selector::exactly;
    if (is_exact_mtu && differs(C::mtu, M::mtu))
        return Expected{Verdict::refuse, "a join that asks for another MTU than the group's is refused",
                        of_ip(group.record[M::mgid], rfc4391::join_needs_group_mtu)};
    const bool is_mlid_unknown = request.gives(C::mlid) && group.record[M::mlid] == 0;
    const bool leaves_open = gives_half(request) || (request.gives(C::mtu_selector) && !is_exact_mtu) ||
                             (request.gives(C::rate_selector) && !is_exact_rate) || differs(C::mlid, M::mlid) ||
                             is_mlid_unknown || differs(C::scope, M::scope) ||
                             (request.gives(C::lifetime_selector) && differs(C::lifetime, M::lifetime));
    if (leaves_open) return Expected{};
    return {};
}

Expected Model::expected_join(const Request& request, unsigned port) const {
    const auto* group = find(request.record[M::mgid]);
    if (!group) return expected_creation(request, port);
    const auto p_key = group->record[M::p_key];
    const auto verdict = foreign(request, port, *group);
    if (verdict && verdict->verdict == Verdict::refuse) return *verdict;
    if (!is_in(port, p_key) || !is_in(request.asker, p_key))
        return {Verdict::refuse, "who is not in the group's partition does not join it",
                of_ip(group->record[M::mgid], rfc4391::pkey_assigned_to_port)};
    if (const auto other = mismatch(request, *group)) return *other;
    const auto& facts = facts_.ports[port];
    if (facts.mtu < group->record[M::mtu])
        return {Verdict::refuse, "a port whose MTU is less than the group's does not join it",
                of_ip(group->record[M::mgid], rfc4391::join_needs_group_mtu)};
    // Of rates other than the port's own IBA says what each packet may do, not whether the port may join.
    if (facts.rate != group->record[M::rate]) return {};
    if (verdict) return *verdict;
    if (!is_full_member(port, p_key) || !is_full_member(request.asker, p_key)) return {};
    return {Verdict::grant, "a join that has the group's parameters is granted (15.2.5.17.2)"};
}

/// IBTA Vol 1, 15.2.5.17, o15-0.1.5 and o15-0.1.9; RFC 4392, 1.3.2.1.
Expected Model::expected_creation(const Request& request, unsigned port) const {
    using C = M::component;
    const auto& record = request.record;
    const auto mgid = record[M::mgid];
    if ((asked_states(request) & holding) == 0)
        return {Verdict::refuse, "only a FullMember creates a group", &rfc4392::creation_needs_full_member};
    if (!request.gives(C::create))
        return {Verdict::refuse, "a join without all components that a group needs creates none",
                &iba::creation_components};
    if (!mgid.is_zero() && !mgid.is_multicast())
        return {Verdict::refuse, "an MGID that is no multicast GID is refused (o15-0.1.5)"};
    // Those that the SA chooses are nobody else's to give.
    constexpr std::uint16_t sa_signature = 0xa01b;
    constexpr std::uint8_t link_local = 2;
    if (mgid_of(mgid)[Mgid::signature] == sa_signature && mgid_of(mgid)[Mgid::scope] == link_local)
        return {Verdict::refuse, "an MGID with the SA's own signature and link-local scope is refused (o15-0.1.5)"};
    if (!is_in(port, record[M::p_key]) || !is_in(request.asker, record[M::p_key]))
        return {Verdict::refuse, "who is not in a partition creates no group of it",
                of_ip(mgid, rfc4391::pkey_assigned_to_port)};
    if (facts_.room && groups_.size() >= *facts_.room)
        return {Verdict::refuse, "an SA without room creates no group", &iba::no_room_for_group};
    if (has_ipoib_signature(mgid) && !is_broadcast_gid(mgid)) {
        const auto parts = mgid_of(mgid);
        const auto* link = find(broadcast_gid(parts[Mgid::p_key], parts[Mgid::scope]));
        if (!link || !is_same_partition(parts[Mgid::p_key], record[M::p_key]) || mismatch(request, *link)) return {};
    }
    const auto& facts = facts_.ports[port];
    const bool is_beyond_port = (request.gives(C::mtu) && record[M::mtu] != facts.mtu) ||
                                (request.gives(C::rate) && record[M::rate] != facts.rate);
    const bool is_own = request.asker == port;
    if (is_beyond_port || gives_half(request) || !is_own || request.gives(C::mlid) ||
        !is_full_member(port, record[M::p_key]))
        return {};
    return {Verdict::grant, "a FullMember that gives all components creates a group (o15-0.1.9)"};
}

std::vector<Deviation> Model::take(const Request& request, const Answer& answer) {
    std::vector<Deviation> all;
    if (!answer.is_answered) {
        all.push_back({"silence", "a request is answered", words(request) + " is not answered"});
        return all;
    }
    const auto wanted = expected(request);
    const bool wants_room = !request.is_leave && !find(request.record[M::mgid]);
    const bool lacks_room = wants_room && answer.status == sa_status::no_resources;
    if (wanted.verdict == Verdict::refuse && answer.is_ok())
        all.push_back({"answer", wanted.why, words(request) + " is granted", wanted.requirement});
    if (wanted.verdict == Verdict::grant && !answer.is_ok() && !(lacks_room && !facts_.room))
        all.push_back({"answer", wanted.why, words(request) + " is refused with status " + hex(answer.status, 4),
                       wanted.requirement});
    if (lacks_room && wanted.verdict != Verdict::refuse && groups_.size() < room_seen_)
        all.push_back({"room", "there is room for as many groups as there were before",
                       "no group is created beside " + std::to_string(groups_.size()) + ", where there were " +
                           std::to_string(room_seen_)});
    const auto port = port_of(request.record[M::port_gid]);
    if (!answer.is_ok() || !port) return all;
    if (request.is_leave)
        leave(request, *port, answer, all);
    else
        join(request, *port, answer, all);
    return all;
}

/// Nothing else is told by an answer that says again what the first said.
std::vector<Deviation> Model::take_again(const Request& request, const Answer& first, const Answer& again) {
    const bool is_same = again.is_answered && again.status == first.status &&
                         (!again.is_ok() || again.record.octets == first.record.octets);
    if (is_same) return {};
    return take(request, again);
}

/// A new group has what its creator has given. Its MLID may be another group's, too: several MGIDs may share one (IBTA
/// Vol 1, 4.1.3), whatever their partitions are. Ports then drop what is not for them.
void Model::check_new(const Request& request, const Record& told, std::vector<Deviation>& all) const {
    using C = M::component;
    const auto is_given = [&](std::uint64_t component, const auto& field) {
        return !request.gives(component) || told[field] == request.record[field];
    };
    const auto is_exact = [&](std::uint64_t component, const auto& field, std::uint64_t how,
                              const auto& selector_field) {
        return !request.gives(how) || request.record[selector_field] != selector::exactly || is_given(component, field);
    };
    if (!is_given(C::q_key, M::q_key) || !is_given(C::sl, M::sl) || !is_given(C::traffic_class, M::traffic_class) ||
        !is_given(C::flow_label, M::flow_label) || !is_given(C::hop_limit, M::hop_limit) ||
        !is_exact(C::mtu, M::mtu, C::mtu_selector, M::mtu_selector) ||
        !is_exact(C::rate, M::rate, C::rate_selector, M::rate_selector) ||
        (request.gives(C::p_key) && !is_same_partition(told[M::p_key], request.record[M::p_key])))
        all.push_back({"parameters", "a new group has the parameters that its creator has given",
                       "the new group differs in " + difference(told, request.record),
                       &rfc4392::creator_supplies_parameters});
    const auto mlid = told[M::mlid];
    if (mlid < first_mlid || mlid > last_mlid)
        all.push_back({"mlid", "an MLID is from 0xc000 to 0xfffe (4.1.3)", "the new group has MLID " + hex(mlid, 4)});
}

void Model::join(const Request& request, unsigned port, const Answer& answer, std::vector<Deviation>& all) {
    const bool is_chosen = request.record[M::mgid].is_zero();
    const auto mgid = is_chosen ? answer.record[M::mgid] : request.record[M::mgid];
    if (is_chosen && (groups_.contains(mgid) || !mgid.is_multicast()))
        all.push_back({"group", "an MGID that the SA chooses is a multicast GID that no group has (15.2.5.17.2)",
                       "it has chosen " + text(mgid)});
    if (answer.record[M::mgid] != mgid || answer.record[M::port_gid] != request.record[M::port_gid])
        all.push_back({"answer", "the answer to a join is about the group and the port that were asked for (15.2.5.17)",
                       "it names " + text(answer.record[M::mgid]) + " and " + text(answer.record[M::port_gid])});
    const bool is_new = !groups_.contains(mgid);
    if (is_new) check_new(request, answer.record, all);
    auto& group = groups_[mgid];
    const bool was_held = group.is_held();
    if (is_new) {
        group.record = of_group(answer.record);
        mlids_.insert(answer.record[M::mlid]);
        const auto held =
            std::ranges::count_if(groups_, [](const auto& entry) { return !entry.second.is_administrative; });
        peak_ = std::max(peak_, static_cast<std::size_t>(held));
        room_seen_ = std::max(room_seen_, groups_.size());
    } else {
        if (const auto other = difference(answer.record, group.record); !other.empty())
            all.push_back({"parameters", "the answer to a join tells the group's parameters",
                           "the answer differs from the group in " + other});
        if (group.record[M::mlid] == 0) group.record.set(M::mlid, answer.record[M::mlid]);
        if (answer.record[M::mlid] != group.record[M::mlid])
            all.push_back(
                {"mlid", "a group keeps its MLID",
                 "the answer tells MLID " + hex(answer.record[M::mlid], 4) + ", not " + hex(group.record[M::mlid], 4)});
    }
    auto& member = group.members[port];
    const bool is_new_member = member.states == 0;
    const unsigned all_asked = request.record[M::join_state], told = answer.record[M::join_state];
    auto states = static_cast<std::uint8_t>(member.states | asked_states(request));
    if (told == (member.states | all_asked)) states = static_cast<std::uint8_t>(told);
    if (told != states)
        all.push_back(
            {"states", "the answer to a join tells the union of the port's joins",
             "after " + words(request) + " the answer tells " + state_text(told) + ", not " + state_text(states),
             of_states(told ^ states)});
    member.states = states;
    const bool is_own = request.asker == port;
    if (is_new_member)
        member.proxy = is_own ? Proxy::no : Proxy::yes;
    else if (is_own != (member.proxy == Proxy::no))
        member.proxy = Proxy::open;
    if (!was_held && group.is_held()) report(trap::multicast_group_created, group);
}

void Model::leave(const Request& request, unsigned port, const Answer& answer, std::vector<Deviation>& all) {
    const auto mgid = request.record[M::mgid];
    const auto at = groups_.find(mgid);
    if (at == groups_.end() || !at->second.members.contains(port)) return;
    auto& group = at->second;
    const bool was_held = group.is_held();
    auto& member = group.members[port];
    member.states = static_cast<std::uint8_t>(member.states & ~asked_states(request));
    const auto rest = member.states;
    if (rest == 0) group.members.erase(port);
    const bool is_over = was_held && !group.is_held();
    if (rest != 0 && !is_over && answer.record[M::join_state] != rest)
        all.push_back({"states", "the answer to a leave tells what is left",
                       "after " + words(request) + " the answer tells " + state_text(answer.record[M::join_state]) +
                           ", not " + state_text(rest),
                       nullptr});
    settle(mgid, was_held);
}

void Model::settle(const Gid& mgid, bool was_held) {
    const auto at = groups_.find(mgid);
    if (at == groups_.end() || at->second.is_held() || !was_held) return;
    report(trap::multicast_group_deleted, at->second);
    if (at->second.is_administrative)
        at->second.is_open = !at->second.members.empty();
    else
        groups_.erase(at);
}

/// IBTA Vol 1, 15.2.5.17: who is not there any more is no member.
void Model::vanish(unsigned port) {
    facts_.ports[port].is_there = false;
    std::erase_if(subscriptions_, [&](const auto& one) { return one.first.first == port; });
    std::vector<Gid> left;
    for (const auto& [mgid, group] : groups_)
        if (group.members.contains(port)) left.push_back(mgid);
    for (const auto& mgid : left) {
        const bool was_held = groups_[mgid].is_held();
        groups_[mgid].members.erase(port);
        settle(mgid, was_held);
    }
}

void Model::come_back(unsigned port) { facts_.ports[port].is_there = true; }

std::vector<Deviation> Model::compare(const Gid& mgid, unsigned port, const Seen& seen) const {
    std::vector<Deviation> all;
    const auto* group = find(mgid);
    const auto of_it = " (" + text(mgid) + ")";
    if (group && group->is_open) return all;
    if (seen.exists && !group)
        all.push_back({"group", "a group ends with its last FullMember", "the group is still there" + of_it});
    if (!seen.exists && group)
        all.push_back({"group", "a group lives as long as it has a FullMember", "the group is not there" + of_it});
    const unsigned states = this->states(mgid, port);
    const auto told = "port " + std::to_string(port) + " has join states " + state_text(seen.states) + ", not " +
                      state_text(states) + of_it;
    if ((seen.states & ~states) != 0)
        all.push_back(
            {"states", "a port has no join states but those of its joins", told, of_states(seen.states & ~states)});
    if ((states & ~seen.states) != 0)
        all.push_back(
            {"states", "a port keeps the join states that it has not left", told, of_states(states & ~seen.states)});
    if (seen.states == 0 || states == 0) return all;
    const auto proxy = group->members.at(port).proxy;
    if (proxy != Proxy::open && seen.is_proxy != (proxy == Proxy::yes))
        all.push_back({"states", "ProxyJoin tells whether another port has joined for this one (15.2.5.17)",
                       "port " + std::to_string(port) + (seen.is_proxy ? " has" : " has not") + " ProxyJoin" + of_it});
    if (const auto other = difference(seen.record, group->record); !other.empty())
        all.push_back({"parameters", "a group keeps its parameters", "they differ in " + other + of_it});
    if (seen.record[M::mlid] != group->record[M::mlid])
        all.push_back(
            {"mlid", "a group keeps its MLID",
             "its MLID is " + hex(seen.record[M::mlid], 4) + ", not " + hex(group->record[M::mlid], 4) + of_it});
    return all;
}

void Model::adopt(const Gid& mgid, const std::map<unsigned, Seen>& seen, bool contradicts) {
    if (contradicts) std::erase_if(due_, [&](const Due& due) { return due.mgid == mgid; });
    const bool exists = std::ranges::any_of(seen, [](const auto& entry) { return entry.second.exists; });
    auto& group = groups_[mgid];
    const auto before = std::exchange(group.members, {});
    group.is_open = false;
    for (const auto& [port, one] : seen) {
        if (one.exists) group.record = of_group(one.record);
        if (one.states == 0) continue;
        const auto proxy = one.is_proxy ? Proxy::yes : Proxy::no;
        const auto at = before.find(port);
        // What is told of it is not what the SA goes by, or so it seems.
        const bool is_doubted = at != before.end() && at->second.proxy != proxy;
        group.members[port] = {one.states, is_doubted ? Proxy::open : proxy};
    }
    // A wrong administrator has left it without whom it should have ended with: how it ends is nobody's to say.
    group.is_open = exists && !group.is_held() && !group.is_administrative;
    if (!exists && !group.is_administrative) groups_.erase(mgid);
}

std::string words(const Request& request) {
    const auto states = hex(unsigned{request.record[M::join_state]}, 1);
    return std::string(request.is_leave ? "a leave" : "a join") + " with " + states + " by port " +
           std::to_string(request.asker) + " for " + text(request.record[M::port_gid]) + " (" +
           text(request.record[M::mgid]) + ")";
}

}  // namespace ipoib::conformance::sa_model
