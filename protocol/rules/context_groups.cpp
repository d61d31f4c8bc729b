// SPDX-License-Identifier: GPL-2.0-or-later
// Groups and their members against what the SA has told before. RFC 4391, 4.1, 5, 7, 10 and 11; RFC 4392.
#include "protocol/requirements/catalogue.hpp"
#include "protocol/rules/common.hpp"

#include <algorithm>

namespace ipoib::rules {
namespace {

constexpr Parts to_group = over_ib | parts(Part::lrh, Part::grh, Part::mgid);
constexpr Parts of_member_record = parts(Part::mc_member);

bool is_other_group(const Packet& p, const Known& known) {
    return p.is_multicast && known.group && !is_to_broadcast(p) && has_ipoib_signature(p.grh[Grh::dgid]);
}
bool is_member(const state::Member& member, const state::Sight& now) {
    return member.joined != 0 || (member.left_at && state::elapsed(member.left_at.time, now.time) < grace);
}
/// Where a membership ended that the port has not asked for again: it has acknowledged that the group is deleted, or
/// answered that it must register anew. Frame 0: it has not.
state::Sight end_of(const state::Member& member, const Known& known) {
    if (!member.joined_at) return {};
    if (&member != known.of_broadcast && member.told_of_deletion.order > member.joined_at.order)
        return member.told_of_deletion;
    const auto registers_anew = known.subject ? known.subject->lapsed : state::Sight{};
    return registers_anew.order > member.joined_at.order ? registers_anew : state::Sight{};
}
bool has_ended(const state::Member& member, const Known& known) { return static_cast<bool>(end_of(member, known)); }
bool has_ended_long_ago(const state::Member& member, const Known& known) {
    const auto end = end_of(member, known);
    return end && known.now.steady - end.steady >= grace;
}
bool has_joined(const Packet&, const Known& known) {
    return known.member && is_member(*known.member, known.now) && !has_ended_long_ago(*known.member, known);
}
/// It has not joined the broadcast group as FullMember since it was asked to register anew.
bool must_join_link_again(const Known& known) {
    const auto* member = known.of_broadcast;
    if (!member || !known.subject || !known.subject->lapsed || !member->joined_at) return false;
    const bool is_full = ((member->joined | member->granted) & join_state::full_member) != 0;
    return has_ended(*member, known) || (member->joined_at.order > known.subject->lapsed.order && !is_full);
}
/// Who has left is taken for a member for a while.
bool is_none_now(const state::Member* member) { return member && member->joined == 0; }
bool has_no_part_now(const Packet&, const Known& known) {
    return is_none_now(known.member) || (known.member && has_ended(*known.member, known));
}
constexpr std::string_view may_be_member = "the port may have been on the link, and joined, before the capture";
/// Where the port was seen on the link before, that is no assumption.
state::Reason may_have_joined(bool holds_in_evidence, bool is_shown) {
    return {.doubt = Doubt::life_before,
            .text = may_be_member,
            .holds_in_evidence = holds_in_evidence,
            .is_shown = is_shown};
}
/// Since the SA last refused the member, or let it go.
state::Span since_refusal(const Packet& p, const Known& known) {
    if (!known.member) return {};
    const auto& member = *known.member;
    if (is_member(member, known.now)) {
        auto span = with_sa(known, end_of(member, known));
        if (!known.knows(Fact::watched))
            span.doubts.add({Doubt::lost_frames, "the capture does not show all that the port said to the SA"});
        if (known.shares_port) span.doubts.add(may_be_member_by_another_gid);
        return span;
    }
    const bool has_left = member.left_at.order > member.refused_at.order;
    auto span = with_sa(known, member.left_at);
    if (has_left) {
        span.time_needed = grace;
    } else {
        // A join that is refused takes nothing away from who is a member: its life on the link must be seen whole.
        const auto* requester = known.requester;
        const bool is_to_link = is_to_broadcast(p);
        const auto down = requester && requester->down.order > requester->gap.order ? requester->down : state::Sight{};
        span = is_to_link ? with_sa(known, down) : since_life_began(p, known);
        const bool was_there = known.subject && known.subject->first_ipoib &&
                               known.subject->first_ipoib.order < member.first_refused.order;
        const bool was_let_go = member.left_at.order != 0;
        if (is_to_link ? was_there && !was_let_go : !known.of_broadcast || !known.of_broadcast->watched_since)
            span.doubts.add(may_have_joined(true, was_there));
        else if (is_to_link && !down)
            span.doubts.add(may_have_joined(false, false));
    }
    if (known.shares_port) span.doubts.add(may_be_member_by_another_gid);
    return span;
}
/// Nobody has joined a group, or got its record, before it was created.
state::Span since_creation(const Packet& p, const Known& known) {
    auto span = since_life_began(p, known);
    if (known.group->reported.order > span.since.order) span.doubts.remove(state::may_be_older);
    return span;
}
/// Of one that has left, what was queued may still come.
state::Span since_creation_or_left(const Packet& p, const Known& known) {
    const bool has_left = known.member && (known.member->left_at.order > known.member->joined_at.order ||
                                           is_member(*known.member, known.now));
    return has_left ? since_refusal(p, known) : since_creation(p, known);
}
/// Since the SA told the sender the group's MLID.
state::Span since_mlid(const Packet& p, const Known& known) {
    const auto& group = *known.group;
    if (known.member && known.member->mlid) {
        auto span = with_sa(known, known.member->joined_at);
        lets_switch(span, known, known.member, known.member->former_mlid == p.lrh[Lrh::dlid]);
        span.has_changed = group.mlid_has_changed;
        return span;
    }
    if (group.source != state::Source::sa) return {.is_given = true};
    return since_other_was_told(known, group.learned);
}
/// An answer may be to another question that is not captured.
state::Span since_question(const Packet& p, const Known& known) {
    auto span = since_life_began(p, known);
    span.senders[0] = {{known.answers->lid, known.answers->qpn}, known.answers->sent};
    if (!p.arp && !p.has(Part::nd))
        span.doubts.add(
            {Doubt::another_interface, "a host of several ports may hear an echo by one and answer it by another"});
    return span;
}

/// Without the record of the broadcast group two other ports tell its Q_Key: who has another one can hear neither.
bool differs_from_others(const Packet& p, const Known& known) {
    const auto& [first, second] = known.others_of_q_key;
    // A link whose broadcast group was told in two ways has another Q_Key now than it had, and others hear of it later.
    if (!is_to_broadcast(p) || known.knows(Fact::q_key) || known.link->is_disputed || !first || !second) return false;
    if (first == known.sender || second == known.sender) return false;
    // Who differs because the group has got another one is followed by the others: they must go on as before.
    if (p.deth[Deth::q_key] == known.link->q_key_in_use) return true;
    const auto* member = known.member;
    return member && member->odd_q_key && known.link->q_key_used.steady - member->odd_q_key.steady >= grace;
}
/// The group may have been made anew, with another Q_Key: then the others take that over, too.
state::Span since_others(const Packet&, const Known& known) {
    const auto* other = known.others_of_q_key[1];
    state::Span span{.since = other->last};
    if (other->qpn_count != 0) span.senders[0] = {{other->lid, other->qpns[other->qpn_count - 1u]}, other->last};
    return span;
}

/// Other programs of the port may join the broadcast group in their own way; the SA answers with all states that the
/// port has. IBTA Vol 1, 15.2.5.17.
bool has_joined_as_full_member(const Packet&, const Known& known) {
    return ((known.member->joined | known.member->granted) & join_state::full_member) != 0;
}

/// The group that was sent to, and what is wrong with that.
std::string what_sa_said(const Packet& p, const Known& known) {
    const auto group = text(p.grh[Grh::dgid]);
    const auto* member = known.member;
    if (const auto end = member ? end_of(*member, known) : state::Sight{})
        return group + ", joined" + in_frame(member->joined_at) + ", before " +
               (end.order == member->told_of_deletion.order ? "its deletion was acknowledged"
                                                            : "it was asked to register anew") +
               in_frame(end);
    if (member && member->joined != 0)
        return group + ", joined with JoinState " + std::to_string(member->granted) + in_frame(member->joined_at);
    if (!member || !(member->refused_at || member->left_at)) return group + ", which it has not joined";
    if (member->left_at.order > member->refused_at.order) return group + ", which it left" + in_frame(member->left_at);
    return group + ", which the SA refused" + in_frame(member->refused_at);
}

/// The group's MLID as the SA told this sender, else as it told anyone.
std::uint16_t mlid_of(const Known& known) {
    if (known.member && known.member->mlid) return known.member->mlid;
    return known.group->record && !known.group->mlid_has_changed ? known.group->record->mlid : std::uint16_t{0};
}

bool is_answer(const Packet& p, Method method) { return p.mad[Mad::method] == method; }
bool is_good(const Packet& p) { return p.mad[Mad::status] == 0; }
bool is_request(const Packet& p) { return !is_response(p.mad[Mad::method]); }
bool is_join_answer(const Packet& p, const Known& known) {
    return is_answer(p, Method::get_resp) && known.request->method == Method::set;
}
std::uint8_t state_of_request(const Known& known) {
    return known.request->as<McMemberRecord>()[McMemberRecord::join_state];
}

/// The P_Key of the record, or of a datagram, in the subject's table, now or before; null where it was never seen
/// there.
const state::TableKey* find_p_key(const Packet& p, const Known& known) {
    const auto& p_keys = known.subject->p_keys;
    const auto p_key = p.mc_member ? p.mc_member[McMemberRecord::p_key] : p.bth[Bth::p_key];
    const state::TableKey wanted{.p_key = limited_p_key(p_key)};
    const auto found = std::lower_bound(p_keys.begin(), p_keys.end(), wanted);
    return found != p_keys.end() && *found == wanted ? &*found : nullptr;
}

/// An address of another port of the host says that it has heard it there.
bool speaks_for_itself(const Packet& p, const Known& known) {
    if (p.arp || p.has(Part::nd)) return true;
    return known.speaker && !known.speaker->is_shared && known.sender && known.speaker->gid == known.sender->gid;
}

constexpr state::Reason may_have_p_key_again{
    Doubt::lost_frames, "the SM may have given the P_Key back by a packet of queue pair 0 that is not in the capture"};

constexpr Rule rules_of_context_groups[] = {
    {.id = "RULE-RFC4391-4.1-03",
     .checks = {&rfc4391::broadcast_group_mtu_bound, &rfc4391::link_mtu},
     .title = "the broadcast group's MTU fits through the links of its members",
     .needs = of_member_record,
     .evidence = Evidence::nothing_between,
     .knows = facts(Fact::request),
     .over = [](const Packet&, const Known& known) { return state::Span{.since = known.subject->told_mtu}; },
     .applies =
         [](const Packet& p, const Known& known) {
             return is_join_answer(p, known) && is_broadcast_record(p) && known.subject && known.subject->mtu != 0;
         },
     .holds = [](const Packet& p,
                 const Known& known) { return p.mc_member[McMemberRecord::mtu] <= known.subject->mtu; },
     .points_at = McMemberRecord::mtu,
     .expected_of =
         [](const Packet&, const Known& known) {
             return "at most " + std::to_string(mtu_octets(known.subject->mtu)) + " octets, the port's NeighborMTU";
         }},
    {.id = "RULE-RFC4391-5-01",
     .checks = {&rfc4391::broadcast_group_exists},
     .title = "the broadcast group exists when packets are sent to it",
     .needs = to_group,
     .evidence = Evidence::nothing_between,
     .knows = facts(Fact::member),
     .over =
         [](const Packet&, const Known& known) {
             // Whoever creates it needs no packet that passes here, least of all the host of the SM.
             return state::Span{.since = known.member->refused_at,
                                .doubts = may_be_told_anew(known.group->missed, known.now)};
         },
     .applies =
         [](const Packet& p, const Known& known) {
             return is_to_broadcast(p) && known.group && known.group->existence != state::Existence::unknown;
         },
     // A port that the SA let join after the refusal knows better than what another one was told.
     .holds =
         [](const Packet&, const Known& known) {
             return known.group->existence == state::Existence::exists || known.member->joined != 0 ||
                    known.member->refused_at.order == 0;
         },
     .points_at = Grh::dgid,
     .expected = "a group that the SA knows",
     .actual_of =
         [](const Packet& p, const Known&) {
             return text(p.grh[Grh::dgid]) + ", of which it has said that it does not exist";
         }},
    {.id = "RULE-RFC4391-5-02-sends",
     .checks = {&rfc4391::broadcast_full_member_join, &rfc4392::failed_join_keeps_off_subnet},
     .title = "an interface sends to the broadcast group once the SA has let it join",
     .needs = to_group,
     .evidence = Evidence::nothing_between,
     .knows = facts(Fact::member),
     .over = since_refusal,
     .applies = [](const Packet& p) { return is_to_broadcast(p); },
     .fades = has_no_part_now,
     .holds = has_joined,
     .points_at = Grh::dgid,
     .expected = "a join that succeeded before",
     .actual_of = what_sa_said},
    {.id = "RULE-RFC4391-5-02-never",
     .checks = {&rfc4391::broadcast_full_member_join},
     .title = "an interface whose port has come up joins the broadcast group before it uses the link",
     .needs = to_group,
     .evidence = Evidence::nothing_between,
     .knows = facts(Fact::sender),
     .over =
         [](const Packet&, const Known& known) {
             auto span = with_sa(known, known.requester->down);
             if (!known.is_at_sa) span.doubts.add({Doubt::lost_frames, "what ports say to the SA does not pass here"});
             if (known.shares_port) span.doubts.add(may_be_member_by_another_gid);
             return span;
         },
     .applies =
         [](const Packet& p, const Known& known) {
             const auto* requester = known.requester;
             const bool has_asked = known.knows(Fact::member) || (known.member && known.member->was_asked_for);
             return is_to_broadcast(p) && !has_asked && requester && requester->down &&
                    requester->down.order > requester->gap.order && known.subject == known.sender &&
                    known.sender->first_ipoib.order >= requester->down.order;
         },
     .holds = [](const Packet&) { return false; },
     .points_at = Grh::dgid,
     .expected = "a join that succeeded before",
     .actual_of = [](const Packet&,
                     const Known& known) { return "none since the link was down" + in_frame(known.requester->down); }},
    {.id = "RULE-RFC4391-5-02-again",
     .checks = {&rfc4391::broadcast_full_member_join},
     .title = "an interface that must register anew joins the broadcast group as FullMember before it uses the link",
     .needs = over_ib | parts(Part::lrh, Part::deth),
     .evidence = Evidence::nothing_between,
     .knows = facts(Fact::sender, Fact::watched),
     .over = [](const Packet&, const Known& known) { return with_sa(known, known.subject->lapsed); },
     .applies = [](const Packet& p, const Known& known) { return !is_to_broadcast(p) && must_join_link_again(known); },
     .fades = [](const Packet&, const Known& known) { return must_join_link_again(known); },
     .holds = [](const Packet&, const Known& known) { return known.now.steady - known.subject->lapsed.steady < grace; },
     .expected = "a join as FullMember that succeeded since",
     .actual_of =
         [](const Packet&, const Known& known) {
             return "a packet of a port that joined" + in_frame(known.of_broadcast->joined_at) +
                    (has_ended(*known.of_broadcast, known) ? "" : " to send only,") +
                    " and was asked to register anew" + in_frame(known.subject->lapsed);
         }},
    {.id = "RULE-RFC4391-5-02-state",
     .checks = {&rfc4391::broadcast_full_member_join},
     .title = "who sends to the broadcast group is a FullMember of it",
     .needs = to_group,
     .evidence = Evidence::nothing_between,
     .knows = facts(Fact::member),
     .over =
         [](const Packet&, const Known& known) {
             const auto& registers_anew = known.subject->lapsed;
             auto span = with_sa(known, registers_anew ? registers_anew : known.member->joined_at);
             // A router joins every group as NonMember, too.
             if (!registers_anew && known.requester && known.requester->asked_for_groups)
                 span.doubts.add({Doubt::lost_frames, "a router may have joined as FullMember before"});
             return span;
         },
     .applies = [](const Packet& p, const Known& known) { return is_to_broadcast(p) && known.member->joined != 0; },
     .holds = has_joined_as_full_member,
     .points_at = Grh::dgid,
     .expected = "a join as FullMember",
     .actual_of = what_sa_said},
    {.id = "RULE-RFC4391-5-08",
     .checks = {&rfc4391::pkey_assigned_to_port},
     .title = "a port joins in a partition only with a P_Key of its table",
     .needs = of_member_record,
     .evidence = Evidence::nothing_between,
     .knows = facts(Fact::request),
     .over =
         [](const Packet& p, const Known& known) {
             state::Span span{.since = known.subject->told_p_keys};
             // The answer of a table that was asked for before may come after that of one that was set.
             constexpr std::int64_t longest_delay = 1'000'000'000;  // ns
             const bool was_taken_away = find_p_key(p, known) != nullptr;
             if (was_taken_away) {
                 span.time_needed = longest_delay;
                 span.doubts.add(may_have_p_key_again);
             }
             if (!was_taken_away && !known.subject->knows_p_keys)
                 span.doubts.add({.doubt = Doubt::lost_frames,
                                  .text = "not all of the port's P_Key table is in the capture",
                                  .is_shown = true});
             return span;
         },
     .applies =
         [](const Packet& p, const Known& known) {
             return is_join_answer(p, known) && is_broadcast_record(p) && known.subject && known.subject->told_p_keys;
         },
     .holds =
         [](const Packet& p, const Known& known) {
             const auto* found = find_p_key(p, known);
             return found && found->is_in;
         },
     .points_at = McMemberRecord::p_key,
     .expected = "a P_Key of the port's table"},
    {.id = "RULE-RFC4391-5-08-uses",
     .checks = {&rfc4391::pkey_assigned_to_port},
     .title = "a port sends in a partition only with a P_Key of its table",
     .needs = over_ib | parts(Part::lrh, Part::deth),
     .evidence = Evidence::nothing_between,
     .knows = facts(Fact::sender),
     .over =
         [](const Packet&, const Known& known) {
             state::Span span{.since = known.subject->told_p_keys, .time_needed = grace};
             span.doubts.add(may_have_p_key_again);
             return span;
         },
     .applies =
         [](const Packet& p, const Known& known) {
             if (!known.subject || !known.subject->knows_p_keys) return false;
             const auto* found = find_p_key(p, known);
             return !found || !found->is_in;
         },
     .holds = [](const Packet&) { return false; },
     .points_at = Bth::p_key,
     .expected = "a P_Key of the port's table"},
    {.id = "RULE-RFC4391-10-01",
     .checks = {&rfc4391::group_created_before_use},
     .title = "a group has a record at the SA before it is used",
     .needs = to_group,
     .evidence = Evidence::nothing_between,
     .knows = facts(Fact::watched),
     .over = since_creation,
     .applies = is_other_group,
     .holds = [](const Packet&, const Known& known) { return known.group->record.has_value(); },
     .points_at = Grh::dgid,
     .expected = "a group that the SA has given a record of",
     .actual_of = [](const Packet& p, const Known&) { return text(p.grh[Grh::dgid]); }},
    {.id = "RULE-RFC4391-10-02",
     .checks = {&rfc4391::sender_checks_group},
     .title = "a sender has asked the SA for the group before",
     .needs = to_group,
     .evidence = Evidence::nothing_between,
     .knows = facts(Fact::watched),
     .over = since_life_began,
     .applies = is_other_group,
     .holds =
         [](const Packet&, const Known& known) {
             return (known.member && known.member->was_asked_for) ||
                    (known.requester && known.requester->asked_for_groups);
         },
     .points_at = Grh::dgid,
     .expected = "a request for its MCMemberRecord before",
     .actual_of = [](const Packet& p,
                     const Known&) { return text(p.grh[Grh::dgid]) + ", which it has not asked for"; }},
    // Who receives may create. A Set for sending that made the group has not found out whether there is one.
    {.id = "RULE-RFC4391-10-02-creates",
     .checks = {&rfc4391::sender_checks_group},
     .title = "a sender does not create the group instead of looking for it",
     .needs = to_group,
     .evidence = Evidence::nothing_between,
     .knows = facts(Fact::sender, Fact::member),
     .over =
         [](const Packet&, const Known& known) {
             // Another one may have created it meanwhile; the host of the SM does so without a packet.
             return state::Span{.since = known.member->joined_at,
                                .doubts = may_be_told_anew(known.member->missed, known.member->joined_at)};
         },
     .applies =
         [](const Packet& p, const Known& known) {
             constexpr std::uint8_t receiving = join_state::full_member | join_state::non_member;
             return is_other_group(p, known) && known.member->joined_at && (known.member->ever_joined & receiving) == 0;
         },
     .holds = [](const Packet&, const Known& known) { return !known.member->made_unasked; },
     .points_at = Grh::dgid,
     .expected = "a question whether the group exists, before the join that created it",
     .actual_of =
         [](const Packet& p, const Known& known) {
             return text(p.grh[Grh::dgid]) + ", created by its join that was answered in frame " +
                    std::to_string(known.member->joined_at.frame);
         }},
    {.id = "RULE-RFC4391-10-03",
     .checks = {&rfc4391::mlid_as_dlid, &udmc::multicast_destination},
     .title = "the DLID is the MLID of the group's record",
     .needs = to_group,
     .evidence = Evidence::nothing_between,
     .knows = facts(Fact::group_record),
     .over = since_mlid,
     .applies = [](const Packet&, const Known& known) { return mlid_of(known) != 0; },
     // Another port may have been told of a newer one.
     .holds =
         [](const Packet& p, const Known& known) {
             const auto dlid = p.lrh[Lrh::dlid];
             return dlid == mlid_of(known) || dlid == known.group->record->mlid;
         },
     .points_at = Lrh::dlid,
     .expected_of =
         [](const Packet&, const Known& known) {
             const bool has_changed = known.member && known.member->former_mlid != 0;
             return hex(mlid_of(known), 4) +
                    (has_changed ? ", as it was told" + in_frame(known.member->joined_at) : std::string());
         }},
    {.id = "RULE-RFC4391-10-08",
     .checks = {&rfc4391::sender_joins_first},
     .title = "a sender has joined the group before it sends",
     .needs = to_group,
     .evidence = Evidence::nothing_between,
     .knows = facts(Fact::watched),
     .over = since_creation_or_left,
     .applies = is_other_group,
     .fades = has_no_part_now,
     .holds = has_joined,
     .points_at = Grh::dgid,
     .expected = "a join that succeeded before",
     .actual_of = what_sa_said},
    {.id = "RULE-RFC4391-10-08-refused",
     .checks = {&rfc4391::sender_joins_first},
     .title = "a sender whose join was refused, or that has left, does not send",
     .needs = to_group,
     .evidence = Evidence::nothing_between,
     .knows = facts(Fact::member),
     .over = since_refusal,
     .applies = is_other_group,
     .fades = has_no_part_now,
     .holds = has_joined,
     .points_at = Grh::dgid,
     .expected = "a join that succeeded before",
     .actual_of = what_sa_said},
    {.id = "RULE-RFC4391-9.1.2-03-others",
     .checks = {&rfc4391::qkey_of_broadcast_group},
     .title = "packets to the broadcast group have the Q_Key that all others use",
     .needs = to_group | parts(Part::deth),
     .evidence = Evidence::nothing_between,
     .knows = facts(Fact::sender),
     .over = since_others,
     .applies = differs_from_others,
     .fades = [](const Packet&, const Known& known) { return known.member && known.member->odd_q_key; },
     .holds = [](const Packet& p, const Known& known) { return p.deth[Deth::q_key] == known.link->q_key_in_use; },
     .points_at = Deth::q_key,
     .expected_of = [](const Packet&,
                       const Known& known) { return hex(known.link->q_key_in_use, 8) + ", as other ports use"; }},
    {.id = "RULE-RFC4392-1.3.2.3-02",
     .checks = {&rfc4392::deleted_group_mlid},
     .title = "a port that was told of a group's deletion does not use its MLID any more",
     .needs = to_group,
     .evidence = Evidence::nothing_between,
     .knows = facts(Fact::sender, Fact::member),
     .over =
         [](const Packet&, const Known& known) {
             auto span = with_sa(known, known.member->told_of_deletion);
             span.time_needed = grace;
             return span;
         },
     .applies =
         [](const Packet& p, const Known& known) {
             const auto& told = known.member->told_of_deletion;
             return is_other_group(p, known) && told && state::elapsed(told.time, known.now.time) >= grace;
         },
     .fades = [](const Packet&, const Known& known) { return known.member && known.member->told_of_deletion; },
     .holds = [](const Packet&) { return false; },
     .points_at = Lrh::dlid,
     .expected = "no packet to the group, or a new join before",
     .actual_of =
         [](const Packet&, const Known& known) {
             return "a packet to it; its deletion was acknowledged in frame " +
                    std::to_string(known.member->told_of_deletion.frame);
         }},
    {.id = "RULE-RFC4391-10-11",
     .checks = {&rfc4391::group_attributes_cached},
     .title = "the SA is not asked again for every packet",
     .needs = of_member_record,
     .evidence = Evidence::nothing_between,
     .over =
         [](const Packet&, const Known& known) {
             // A Delete between two joins is a reason to ask.
             const auto& member = *known.member;
             auto span = with_sa(known, member.lone_since);
             span.senders[0] = {{known.subject->lid, member.sent_by}, member.lone_since};
             return span;
         },
     .applies =
         [](const Packet& p, const Known& known) {
             return is_request(p) && p.mad[Mad::method] != Method::del && known.member && known.member->sent != 0;
         },
     .holds = [](const Packet&, const Known& known) { return known.member->lone_requests < 3; },
     .points_at = McMemberRecord::mgid,
     .expected = "one request for many packets",
     .actual_of = [](const Packet& p,
                     const Known&) { return "one for each packet to " + text(p.mc_member[McMemberRecord::mgid]); }},
    {.id = "RULE-RFC4392-1.2-03",
     .checks = {&rfc4392::explicit_join_to_receive, &rfc4392::receiver_joins},
     .title = "who answers a packet to a group has joined it",
     .needs = over_ib | parts(Part::deth),
     .evidence = Evidence::nothing_between,
     .knows = facts(Fact::watched),
     .over = since_question,
     .applies =
         [](const Packet& p, const Known& known) {
             return known.answers && known.answers->group != state::none && speaks_for_itself(p, known);
         },
     .holds =
         [](const Packet&, const Known& known) {
             constexpr std::uint8_t receives = join_state::full_member | join_state::non_member;
             const auto* member = known.answered;
             return member && !has_ended_long_ago(*member, known) &&
                    ((member->joined & receives) != 0 ||
                     (member->left_at && state::elapsed(member->left_at.time, known.now.time) < grace));
         },
     .expected = "a join that lets it receive",
     .actual_of =
         [](const Packet&, const Known& known) {
             return "an answer to frame " + std::to_string(known.answers->sent.frame) + " by a port without one";
         }},
    {.id = "RULE-RFC4392-1.2.1.2-03",
     .checks = {&rfc4392::mgid_identifies_one_group},
     .title = "a table of the SA names each MGID with one MLID",
     .needs = parts(Part::sa),
     .evidence = Evidence::one_frame,
     .applies = [](const Packet&, const Known& known) { return known.groups_told != 0; },
     .holds = [](const Packet&, const Known& known) { return !known.is_told_twice; },
     .expected = "one MLID",
     .actual_of = [](const Packet&, const Known&) { return std::string("two for one MGID"); }},
    {.id = "RULE-RFC4392-1.2.1.2-03-joins",
     .checks = {&rfc4392::mgid_identifies_one_group},
     .title = "all who join a group are told one MLID",
     .needs = of_member_record,
     .evidence = Evidence::nothing_between,
     .knows = facts(Fact::request),
     .over =
         [](const Packet&, const Known& known) {
             // A member that is down is dropped without a packet, and with the last one the group.
             auto span = with_sa(known, known.group->created);
             // An SM that starts anew knows no group, and gives it the next MLID that is free.
             span.doubts = may_be_told_anew(known.told_otherwise, known.now);
             return span;
         },
     .applies =
         [](const Packet& p, const Known& known) {
             return is_join_answer(p, known) && is_good(p) && known.is_at_sa && known.group &&
                    known.group->created.order < known.now.order;
         },
     .holds = [](const Packet&, const Known& known) { return !known.is_told_twice; },
     .points_at = McMemberRecord::mlid,
     .expected = "the MLID that a member of the group was told"},
    {.id = "RULE-RFC4392-1.3.2.1-01",
     .checks = {&rfc4392::creation_needs_full_member},
     .title = "a join that is no FullMember's does not create a group",
     .needs = of_member_record,
     .evidence = Evidence::nothing_between,
     .knows = facts(Fact::request),
     .over =
         [](const Packet&, const Known& known) {
             // Another one may have created it meanwhile; the host of the SM does so without a packet.
             return state::Span{.since = known.request->asked,
                                .doubts = may_be_told_anew(known.group->missed, known.now)};
         },
     // SendOnlyFullMember, of later releases of the specification, creates as FullMember does.
     .applies =
         [](const Packet& p, const Known& known) {
             constexpr std::uint8_t creates = join_state::full_member | join_state::send_only_full_member;
             return is_join_answer(p, known) && (state_of_request(known) & creates) == 0 &&
                    state_of_request(known) != 0 && known.was_missing && known.is_at_sa;
         },
     .holds = [](const Packet& p) { return !is_good(p); },
     .points_at = Mad::status,
     .expected = "a refusal, for a group that does not exist"},
    {.id = "RULE-RFC4392-4.2.5-02",
     .checks = {&rfc4392::stays_in_broadcast_group},
     .title = "a port that uses the link stays in the broadcast group",
     .needs = over_ib | parts(Part::lrh, Part::deth),
     .evidence = Evidence::nothing_between,
     .knows = facts(Fact::sender),
     .over =
         [](const Packet&, const Known& known) {
             auto span = with_sa(known, known.of_broadcast->left_at);
             span.time_needed = grace;
             return span;
         },
     .applies =
         [](const Packet&, const Known& known) {
             return known.of_broadcast && (known.of_broadcast->joined_at || known.of_broadcast->left_at);
         },
     .fades = [](const Packet&, const Known& known) { return is_none_now(known.of_broadcast); },
     .holds = [](const Packet&, const Known& known) { return is_member(*known.of_broadcast, known.now); },
     .expected = "a member",
     .actual_of =
         [](const Packet&, const Known& known) {
             return "a port that left in frame " + std::to_string(known.of_broadcast->left_at.frame);
         }},
};
static_assert(are_declared(rules_of_context_groups));

}  // namespace

std::span<const Rule> context_groups() { return rules_of_context_groups; }

}  // namespace ipoib::rules
