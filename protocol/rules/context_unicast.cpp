// SPDX-License-Identifier: GPL-2.0-or-later
// Unicast packets against what ARP, ND and the SA have told before. RFC 4391, 3 and 9.1.
#include "protocol/requirements/catalogue.hpp"
#include "protocol/rules/common.hpp"

#include <algorithm>

namespace ipoib::rules {
namespace {

constexpr Parts unicast = over_ib | parts(Part::lrh, Part::deth);

bool is_unicast(const Packet& p) { return !p.is_multicast && !is_multicast_lid(p.lrh[Lrh::dlid]); }

/// The address was announced for one port only, and the capture shows what is sent from where the packet goes.
bool has_one_address(const Packet& p, const Known& known) {
    const bool is_seen = known.receiver && known.receiver->last;
    return is_unicast(p) && is_seen && is_port_qpn(p.bth[Bth::dest_qp]) && !known.neighbour->is_contested &&
           known.neighbour->gid != Gid{};
}
/// A queue pair that the neighbour has announced before its latest one.
bool is_former(const state::Neighbour& neighbour, std::uint32_t qpn) {
    return neighbour.renewed && !neighbour.alternates && qpn != neighbour.qpn() && neighbour.has(qpn);
}
/// The next hop may be a router, so any interface that is announced there is right. RFC 4391, 9.1.1.
bool is_announced_there(const Packet& p, const Known& known) {
    if (known.neighbour->has(p.bth[Bth::dest_qp])) return true;
    if (!known.destination || !known.destination->is_announced) return false;
    // A queue pair of another port, which had this LID before, is not there any more.
    const bool is_of_other = known.destination->port != state::none && known.neighbour->port != state::none &&
                             known.destination->port != known.neighbour->port;
    return !is_of_other || known.target != known.receiver;
}
/// The one before the latest is right until the sender has been told of that, and for what it had queued.
bool goes_to_announced_qpn(const Packet& p, const Known& known) {
    if (!is_former(*known.neighbour, p.bth[Bth::dest_qp])) return is_announced_there(p, known);
    return !known.informed || known.now.steady - known.informed->at.steady < grace;
}
bool was_renewed(const Packet&, const Known& known) { return known.neighbour && known.neighbour->renewed; }
bool is_to_announced_address(const Packet& p, const Known& known) {
    return has_one_address(p, known) && known.neighbour->has(p.bth[Bth::dest_qp]);
}
/// The packet names the neighbour's own interface: by its GID, or by a queue pair that no other one there has.
bool names_neighbour(const Packet& p, const Known& known) {
    if (p.grh) return p.grh[Grh::dgid].interface_id() == known.neighbour->gid.interface_id();
    const bool is_elsewhere = !known.destination || known.destination->port == state::none;
    return known.neighbour->has(p.bth[Bth::dest_qp]) &&
           (is_elsewhere || known.destination->port == known.neighbour->port);
}
std::string announced_qpns(const Packet&, const Known& known) {
    const auto& neighbour = *known.neighbour;
    const auto since = neighbour.renewed ? " since frame " + std::to_string(neighbour.renewed.frame) : std::string();
    return hex(neighbour.qpn(), 6) + ", which the receiver has announced" + since;
}

constexpr state::Reason question_missing{
    .doubt = Doubt::lost_frames,
    .text =
        "the receiver has got an answer to a question that is not in the capture, which may have named another queue "
        "pair",
    .is_shown = true};
bool has_asked_unseen(const state::Neighbour& neighbour) { return neighbour.unseen.order > neighbour.announced.order; }

/// The sender asks before it sends, so all that it sent since its start must be there, and an answer to all that it
/// asked; the receiver may have announced another queue pair since, so all that the one announced has sent.
state::Span since_resolution(const Packet& p, const Known& known) {
    const auto& neighbour = *known.neighbour;
    state::Span span{.since = known.of_broadcast->watched_since, .needs_answers = true};
    span.senders[0] = {{p.lrh[Lrh::slid], p.deth[Deth::src_qp]}, span.since};
    if (known.target) span.senders[1] = {{known.target->lid, neighbour.announced_by}, neighbour.announced};
    if (known.source && known.source->first.order > span.since.order) span.senders[0].since = known.source->first;
    state::begins_with_join(span, known.of_broadcast);
    if (has_asked_unseen(neighbour)) span.doubts.add(question_missing);
    return span;
}
/// Whoever was told the address in the capture, and sends to the port that it names, has no other one from before.
bool was_told_address(const Packet& p, const Known& known) {
    if (!known.informed || !has_one_address(p, known)) return false;
    const bool is_to_stranger = known.target && p.lrh[Lrh::dlid] == known.target->lid && !known.destination;
    return is_to_stranger || is_former(*known.neighbour, p.bth[Bth::dest_qp]);
}
/// All that both have sent since must be there.
state::Span since_informed(const Packet& p, const Known& known) {
    const auto& neighbour = *known.neighbour;
    state::Span span{.since = known.informed->at};
    span.senders[0] = {{p.lrh[Lrh::slid], p.deth[Deth::src_qp]}, span.since};
    if (known.target) span.senders[1] = {{known.target->lid, neighbour.announced_by}, neighbour.announced};
    if (has_asked_unseen(neighbour)) span.doubts.add(question_missing);
    return span;
}
/// The answer may be to another question, that is not captured.
state::Span since_asked(const Packet&, const Known& known) {
    state::Span span{.since = known.answers->sent};
    span.senders[0] = {{known.answers->lid, known.answers->qpn}, known.answers->sent};
    return span;
}
/// A reply may be a late one, to an earlier question, which named another queue pair: all that the asker has said to
/// the SA since its life on the link began must be there, and all that its queue pair has sent since it was announced.
state::Span since_announcement(const Packet&, const Known& known) {
    const auto& neighbour = *known.neighbour;
    state::Span span{.requester = known.answers->lid};
    span.senders[0] = {{known.answers->lid, known.answers->qpn}, neighbour.announced};
    if (known.of_asker) span.since = known.of_asker->watched_since;
    state::begins_with_join(
        span, known.of_asker,
        {.doubt = Doubt::life_before,
         .text = "the asker's life on the link began before the capture, maybe with another queue pair",
         .is_of_other = true});
    if (has_asked_unseen(neighbour)) span.doubts.add(question_missing);
    return span;
}
/// Since the SA last told another way than before, or the first one. A sender may also go back the way on which the
/// receiver's packets came.
state::Span since_path(const Packet& p, const Known& known) {
    auto span = with_sa(known, known.path->changed ? known.path->changed : known.path->first);
    if (known.path_target && known.path_target->lid != 0)
        span.senders[0] = {{known.path_target->lid, p.bth[Bth::dest_qp]}, span.since};
    else
        span.doubts.add({Doubt::lost_frames,
                         "nothing that the receiver sends is known, and what it sent may have come from this LID"});
    return span;
}
bool has_come_from_there(const Known& known) {
    return known.destination && known.destination->last.order > known.path->changed.order;
}
/// Where the receiver was until the SA told another way to it, and has not been seen since.
bool is_former_dlid(const Known& known, std::uint16_t dlid) {
    const auto& path = *known.path;
    const bool was_seen_since = known.path_target && known.path_target->last.order > path.changed.order;
    return path.changed && dlid == path.former_dlid && !was_seen_since;
}

/// What the SA has told the sender of the way to the receiver, whatever was asked. RFC 4391 leaves to IBA how a sender
/// finds it, so one way of several may be any, and nothing can be said where more were told than are kept.
bool has_ways(const Packet& p, const Known& known) {
    const bool asked_for_many = known.requester && known.requester->asked_for_many;
    return is_unicast(p) && known.path->count != 0 && !known.path->has_more && !asked_for_many;
}
bool takes_way(const Known& known, auto&& is_it) {
    const auto& path = *known.path;
    return std::any_of(path.ways.begin(), path.ways.begin() + path.count, is_it);
}
/// The SA has told of a way by this LID, or of more than are kept.
bool was_told(const state::Path* path, std::uint16_t dlid) {
    return path && (path->has_more || std::any_of(path->ways.begin(), path->ways.begin() + path->count,
                                                  [dlid](const auto& way) { return way.dlid == dlid; }));
}
/// The LIDs of a port differ in their lowest LMC bits.
bool is_lid_of(const state::Port* port, std::uint16_t lid) {
    return port && port->lid != 0 && (port->lid >> port->lmc) == (lid >> port->lmc);
}

/// A LID that nobody else has, beside one of the port's, may be another one of it, as long as its LMC is not known or
/// has just changed.
bool may_be_lid_of(const Known& known, std::uint16_t lid) {
    constexpr unsigned most_lmc = 7;
    const auto* port = known.path_target;
    if (!port || port->lid == 0 || (port->lid >> most_lmc) != (lid >> most_lmc)) return false;
    const bool is_anothers = known.receiver && known.receiver != port && known.receiver->last;
    const auto& changed = port->lmc_changed;
    const bool has_changed =
        changed && (changed.order > known.path->first.order || known.now.steady - changed.steady < grace);
    return !is_anothers && (!port->told_lmc || has_changed);
}

bool is_right_dlid(const Packet& p, const Known& known) {
    const auto dlid = p.lrh[Lrh::dlid];
    if (takes_way(known, [dlid](const auto& way) { return way.dlid == dlid; }) || has_come_from_there(known))
        return true;
    if (is_former_dlid(known, dlid)) return known.now.steady - known.path->changed.steady < grace;
    return is_lid_of(known.path_target, dlid) || may_be_lid_of(known, dlid);
}

/// The neighbour, or who sends to it, is in another subnet. One subnet may have two prefixes: that which it was given,
/// and the default one, by which its ports may be called, too. A port whose subnet has got another prefix asks the SA
/// under its new GID.
bool is_beyond_router(const Packet& p, const Known& known) {
    const auto& neighbour = *known.neighbour;
    const auto* speaker = known.speaker;
    const auto qpn = p.bth[Bth::dest_qp];
    if (!is_unicast(p) || !is_port_qpn(qpn) || !neighbour.has(qpn) || neighbour.is_shared) return false;
    // A sender that is not here is known by the queue pair that its IP address was announced with.
    const bool is_from_here = known.knows(Fact::sender);
    const bool is_from_there = !is_from_here && speaker && !speaker->is_shared && speaker->has(p.deth[Deth::src_qp]);
    if (!is_from_here && !is_from_there) return false;
    // What goes from one interface of this subnet to another one goes to a next hop here.
    if (is_from_here && known.destination && known.destination->is_announced) return false;
    const auto far = is_from_here ? neighbour.gid : speaker->gid;
    const auto near = is_from_here ? known.sender->gid : neighbour.gid;
    const bool may_be_alias =
        far.prefix() == state::default_prefix || (near.prefix() == state::default_prefix && !known.knows_prefix);
    const bool is_own = far.prefix() == near.prefix() || (known.requester && known.requester->prefix == far.prefix());
    return !far.is_zero() && !near.is_zero() && !may_be_alias && !is_own;
}
bool has_gid_of_neighbour(const Packet& p, const Known& known) {
    return p.grh && p.grh[Grh::dgid] == known.neighbour->gid;
}
std::string lid_of_target(const Packet&, const Known& known) {
    return hex(known.target->lid, 4) + ", the LID of " + text(known.target->gid);
}
std::string far_gid(const Packet&, const Known& known) { return text(known.neighbour->gid); }

/// IP for one neighbour, whose address is known, that goes to a group.
bool is_for_neighbour_in_group(const Packet& p, const Known& known) {
    const auto& neighbour = *known.neighbour;
    return p.is_multicast && !neighbour.is_shared && !neighbour.gid.is_zero();
}
/// It may have announced the address of a cluster since, which a group carries.
state::Span since_announced(const Packet&, const Known& known) {
    const auto& neighbour = *known.neighbour;
    state::Span span{.since = neighbour.announced};
    if (known.target) span.senders[0] = {{known.target->lid, neighbour.announced_by}, span.since};
    return span;
}

/// The SA has told this sender the way to the neighbour, and by this LID the way to another port of the subnet.
bool leads_elsewhere(const Packet& p, const Known& known) {
    const auto& neighbour = *known.neighbour;
    if (!is_unicast(p) || neighbour.is_shared || neighbour.gid.is_zero() || !names_neighbour(p, known)) return false;
    const bool asked_for_many = known.requester && known.requester->asked_for_many;
    return known.neighbour_path && known.neighbour_path->count != 0 && !known.neighbour_path->has_more &&
           !asked_for_many && known.path_there && known.path_there->to != neighbour.gid &&
           known.path_there->to.prefix() == neighbour.gid.prefix();
}

/// All LIDs of the port that the receiver's address names are known, and the packet goes to none of them, nor to a port
/// that was seen.
bool goes_to_nobody(const Packet& p, const Known& known) {
    const auto& neighbour = *known.neighbour;
    const auto* target = known.target;
    const bool is_seen = known.receiver && known.receiver->last;
    return is_unicast(p) && !is_seen && is_port_qpn(p.bth[Bth::dest_qp]) && !neighbour.is_shared && target &&
           target->lid != 0 && target->told_lmc && !target->lmc_changed && known.sender &&
           neighbour.gid.prefix() == known.sender->gid.prefix() && names_neighbour(p, known) &&
           !is_lid_of(target, p.lrh[Lrh::dlid]) && !was_told(known.neighbour_path, p.lrh[Lrh::dlid]);
}

bool is_ip(const Packet& p) { return carries(p, EtherType::ipv4) || carries(p, EtherType::ipv6); }

/// The port whose GID the packet announces is known, and so is the sender.
bool names_known_port(const Packet&, const Known& known) {
    return known.named && known.named->lid != 0 && !known.sender->gid.is_zero();
}
/// Several GIDs may be at one port; one that is in use at another port it cannot have.
bool names_own_port(const Packet& p, const Known& known) {
    return known.named == known.sender || is_lid_of(known.named, p.lrh[Lrh::slid]);
}
std::string own_gid_text(const Packet&, const Known& known) { return text(known.sender->gid) + ", the sender's"; }
/// It may have moved here since, or the sender may have another LID now.
state::Span since_named(const Packet&, const Known& known) {
    const auto& named = *known.named;
    state::Span span{.since = named.last};
    if (named.qpn_count != 0) span.senders[0] = {{named.lid, named.qpns[named.qpn_count - 1u]}, named.last};
    return span;
}
/// An advertisement that does not override what is known may be a proxy's, or one of several for an anycast address.
/// RFC 4861, 4.4 and 7.2.8.
bool may_be_of_another(const Packet& p) {
    constexpr std::uint32_t override_flag = 0x20000000;
    return p.icmpv6[Icmpv6::type] == Icmpv6Type::neighbour_advertisement &&
           (p.icmpv6[Icmpv6::body] & override_flag) == 0;
}

constexpr Facts of_address = facts(Fact::watched, Fact::neighbour);

constexpr Rule rules_of_context_unicast[] = {
    {.id = "RULE-RFC4391-3-01",
     .checks = {&rfc4391::ud_same_partition_and_qkey},
     .title = "an answer is given only to a packet with the link's Q_Key",
     .needs = over_ib | parts(Part::deth),
     .evidence = Evidence::nothing_between,
     .knows = facts(Fact::q_key),
     .over =
         [](const Packet& p, const Known& known) {
             auto span = since_told_q_key(p, known);
             span.senders[0] = {{known.answers->lid, known.answers->qpn}, known.answers->sent};
             return span;
         },
     .applies = [](const Packet&, const Known& known) { return known.answers != nullptr; },
     .holds = [](const Packet&, const Known& known) { return !known.answers->has_wrong_key; },
     .expected = "no answer",
     .actual_of =
         [](const Packet&, const Known& known) {
             return "an answer to frame " + std::to_string(known.answers->sent.frame) + ", which has another Q_Key";
         }},
    {.id = "RULE-RFC4392-1.2-01",
     .checks = {&rfc4392::limited_members_kept_apart},
     .title = "a limited member does not answer a limited member",
     .needs = over_ib | parts(Part::deth),
     .evidence = Evidence::nothing_between,
     .over = since_asked,
     .applies = [](const Packet&, const Known& known) { return known.answers != nullptr; },
     .holds = [](const Packet& p,
                 const Known& known) { return !known.answers->is_limited || is_full_member(p.bth[Bth::p_key]); },
     .points_at = Bth::p_key,
     .expected = "no answer, since an adapter does not take a packet of a limited member for another one",
     .actual_of =
         [](const Packet& p, const Known& known) {
             return hex(p.bth[Bth::p_key], 4) + ", as frame " + std::to_string(known.answers->sent.frame) +
                    " has, which it answers";
         }},
    {.id = "RULE-RFC4391-9.1.1-04-ipv4",
     .checks = {&rfc4391::ip_to_advertised_qpn},
     .title = "IPv4 goes to the QPN that ARP has told",
     .needs = unicast | parts(Part::ipv4),
     .evidence = Evidence::nothing_between,
     .knows = of_address,
     .over = since_resolution,
     .applies = has_one_address,
     .fades = was_renewed,
     .holds = goes_to_announced_qpn,
     .points_at = Bth::dest_qp,
     .expected_of = announced_qpns},
    {.id = "RULE-RFC4391-9.1.1-04-ipv6",
     .checks = {&rfc4391::ip_to_advertised_qpn},
     .title = "IPv6 goes to the QPN that Neighbour Discovery has told",
     .needs = unicast | parts(Part::ipv6),
     .evidence = Evidence::nothing_between,
     .knows = of_address,
     .over = since_resolution,
     .applies = has_one_address,
     .fades = was_renewed,
     .holds = goes_to_announced_qpn,
     .points_at = Bth::dest_qp,
     .expected_of = announced_qpns},
    // Of a sender whose life the capture does not show.
    {.id = "RULE-RFC4391-9.1.1-04-told",
     .checks = {&rfc4391::ip_to_advertised_qpn},
     .title = "IP goes to the QPN that the sender was told in the capture",
     .needs = unicast,
     .evidence = Evidence::nothing_between,
     .knows = facts(Fact::sender, Fact::neighbour),
     .over = since_informed,
     .applies =
         [](const Packet& p, const Known& known) {
             return !known.knows(Fact::watched) && is_ip(p) && was_told_address(p, known) &&
                    !goes_to_announced_qpn(p, known);
         },
     .fades = was_renewed,
     .holds = [](const Packet&) { return false; },
     .points_at = Bth::dest_qp,
     .expected_of = announced_qpns},
    {.id = "RULE-RFC4391-9.1.1-04-in-group",
     .checks = {&rfc4391::ip_to_advertised_qpn, &rfc4391::unicast_to_peer_qp},
     .title = "IP for a neighbour goes to its queue pair, and not to a group",
     .needs = over_ib | parts(Part::lrh, Part::mgid),
     .evidence = Evidence::nothing_between,
     .knows = facts(Fact::sender, Fact::neighbour),
     .over = since_announced,
     .applies = is_for_neighbour_in_group,
     .holds = [](const Packet&) { return false; },
     .points_at = Bth::dest_qp,
     .expected_of = announced_qpns},
    // Who sends elsewhere may have been told so by hand: RFC 4392, 4.4.
    {.id = "RULE-RFC4391-9-01",
     .checks = {&rfc4391::ipv4_resolved_by_arp},
     .title = "an IPv4 neighbour's address is one that ARP has told",
     .needs = unicast | parts(Part::ipv4),
     .evidence = Evidence::one_frame,
     .knows = of_address,
     .applies = is_to_announced_address,
     .notes = [](const Packet&) { return true; },
     .note = "packets to addresses that ARP has told",
     .points_at = Bth::dest_qp},
    // Who sends elsewhere may have been told so by hand: RFC 4392, 4.4.
    {.id = "RULE-RFC4391-9-02",
     .checks = {&rfc4391::ipv6_resolved_by_nd},
     .title = "an IPv6 neighbour's address is one that Neighbour Discovery has told",
     .needs = unicast | parts(Part::ipv6),
     .evidence = Evidence::one_frame,
     .knows = of_address,
     .applies = is_to_announced_address,
     .notes = [](const Packet&) { return true; },
     .note = "packets to addresses that Neighbour Discovery has told",
     .points_at = Bth::dest_qp},
    {.id = "RULE-RFC4391-9.1.1-05",
     .checks = {&rfc4391::arp_reply_to_advertised_qpn},
     .title = "an ARP reply goes to the QPN that the request announced",
     .needs = unicast | parts(Part::arp_addresses),
     .evidence = Evidence::nothing_between,
     .knows = facts(Fact::neighbour),
     .over = since_announcement,
     // It answers what was just asked, so nothing older can be meant.
     .applies =
         [](const Packet& p, const Known& known) {
             return p.arp[Arp::operation] == Arp::reply && known.answers && has_one_address(p, known);
         },
     // What answered before came to the queue pair of before.
     .holds =
         [](const Packet& p, const Known& known) {
             if (!is_former(*known.neighbour, p.bth[Bth::dest_qp])) return is_announced_there(p, known);
             return known.answers_again || known.now.steady - known.neighbour->renewed.steady < grace;
         },
     .points_at = Bth::dest_qp,
     .expected_of = announced_qpns},
    {.id = "RULE-RFC4391-9.1-01",
     .checks = {&rfc4391::lrh_targets_peer_lid},
     .title = "the DLID is that of the port that the receiver's address names",
     .needs = unicast,
     .evidence = Evidence::nothing_between,
     .knows = facts(Fact::watched, Fact::neighbour, Fact::receiver),
     .over = since_resolution,
     // A port may have several LIDs, and get another: only a LID that is known to be another port's is wrong.
     .applies =
         [](const Packet& p, const Known& known) {
             return has_one_address(p, known) && names_neighbour(p, known) && known.target && known.target->lid != 0 &&
                    (known.target == known.receiver || !known.receiver->gid.is_zero());
         },
     .holds =
         [](const Packet& p, const Known& known) {
             const auto dlid = p.lrh[Lrh::dlid];
             return known.target == known.receiver || is_lid_of(known.target, dlid) ||
                    was_told(known.neighbour_path, dlid);
         },
     .points_at = Lrh::dlid,
     .expected_of = lid_of_target},
    {.id = "RULE-RFC4391-9.1-01-nobody",
     .checks = {&rfc4391::lrh_targets_peer_lid},
     .title = "the DLID is one that the port which the receiver's address names has",
     .needs = unicast,
     .evidence = Evidence::nothing_between,
     .knows = of_address,
     // The SM may have given it another LID by packets that do not pass here.
     .over =
         [](const Packet& p, const Known& known) {
             auto span = since_resolution(p, known);
             span.senders[1].must_go_on = true;
             return span;
         },
     .applies = goes_to_nobody,
     .holds = [](const Packet&) { return false; },
     .points_at = Lrh::dlid,
     .expected_of = lid_of_target},
    {.id = "RULE-RFC4391-9.1-01-told",
     .checks = {&rfc4391::lrh_targets_peer_lid},
     .title = "the DLID is none that the SA has told as another port's",
     .needs = unicast,
     .evidence = Evidence::nothing_between,
     .knows = facts(Fact::sender, Fact::neighbour),
     .over =
         [](const Packet&, const Known& known) {
             auto span = with_sa(known, known.neighbour_path->told);
             if (!known.target || !known.target->told_lmc)
                 span.doubts.add({Doubt::lost_frames, "the LID may be another one of the same port"});
             if (known.target)
                 span.senders[0] = {{known.target->lid, known.neighbour->announced_by}, known.neighbour->announced};
             return span;
         },
     .applies = leads_elsewhere,
     .holds =
         [](const Packet& p, const Known& known) {
             const auto dlid = p.lrh[Lrh::dlid];
             return is_lid_of(known.target, dlid) || was_told(known.neighbour_path, dlid) ||
                    (known.destination && known.destination->last);
         },
     .points_at = Lrh::dlid,
     .expected_of =
         [](const Packet&, const Known& known) {
             return hex(known.neighbour_path->ways[0].dlid, 4) + ", as in frame " +
                    std::to_string(known.neighbour_path->told.frame) + "; this one leads to " +
                    text(known.path_there->to);
         }},
    {.id = "RULE-RFC4391-9.1-02",
     .checks = {&rfc4391::grh_across_subnets},
     .title = "a packet to another IB subnet has a GRH with the receiver's GID",
     .needs = unicast,
     .evidence = Evidence::nothing_between,
     .knows = of_address,
     .over = since_resolution,
     .applies = is_beyond_router,
     .holds = has_gid_of_neighbour,
     .points_at = Grh::dgid,
     .expected_of = far_gid},
    // Of a sender whose life the capture does not show.
    {.id = "RULE-RFC4391-9.1-02-far",
     .checks = {&rfc4391::grh_across_subnets},
     .title = "a packet to a neighbour whose address names another IB subnet has a GRH with its GID",
     .needs = unicast,
     .evidence = Evidence::nothing_between,
     .knows = facts(Fact::neighbour),
     .over = since_announced,
     .applies =
         [](const Packet& p, const Known& known) {
             return !known.knows(Fact::watched) && is_beyond_router(p, known) && !has_gid_of_neighbour(p, known);
         },
     .holds = [](const Packet&) { return false; },
     .points_at = Grh::dgid,
     .expected_of = far_gid},
    {.id = "RULE-RFC4391-9.1.1-07",
     .checks = {&rfc4391::link_address_gid},
     .title = "the GID of the sender's link-layer address in ARP is one of its port's",
     .needs = over_ib | parts(Part::lrh, Part::arp_addresses),
     .evidence = Evidence::nothing_between,
     .knows = facts(Fact::sender),
     .over = since_named,
     .applies = names_known_port,
     .holds = names_own_port,
     .points_at = ArpAddresses::sha_gid,
     .expected_of = own_gid_text},
    {.id = "RULE-RFC4391-9.1.1-07-nd-port",
     .checks = {&rfc4391::link_address_gid},
     .title = "the GID of the sender's link-layer address in Neighbour Discovery is one of its port's",
     .needs = over_ib | parts(Part::lrh, Part::nd),
     .evidence = Evidence::nothing_between,
     .knows = facts(Fact::sender),
     .over = since_named,
     .applies = [](const Packet& p,
                   const Known& known) { return own_option(p) && !may_be_of_another(p) && names_known_port(p, known); },
     .holds = names_own_port,
     .points_at = LinkAddressOption::gid,
     .expected_of = own_gid_text,
     .at = [](const Packet& p) { return own_option(p).data(); }},
    {.id = "RULE-RFC4391-9.1.1-07-prefix",
     .checks = {&rfc4391::link_address_gid},
     .title = "the GID of the sender's link-layer address has the prefix that its subnet has now",
     .needs = over_ib | parts(Part::lrh),
     .evidence = Evidence::nothing_between,
     .over = [](const Packet&, const Known& known) { return state::Span{.since = known.keeps_prefix->prefix_changed}; },
     .applies = [](const Packet&, const Known& known) { return known.keeps_prefix != nullptr; },
     .fades = [](const Packet&, const Known& known) { return known.keeps_prefix != nullptr; },
     .holds = [](const Packet&,
                 const Known& known) { return known.now.steady - known.keeps_prefix->prefix_changed.steady < grace; },
     .expected_of =
         [](const Packet&, const Known& known) {
             return hex(known.keeps_prefix->told_prefix, 16) + ", as its PortInfo has it" +
                    in_frame(known.keeps_prefix->prefix_changed);
         },
     .actual_of = [](const Packet&, const Known& known) { return hex(known.keeps_prefix->former_prefix, 16); }},
    // RFC 4861, 7.2.4: who was asked in a group is not in the asker's cache, so it must tell its address.
    {.id = "RULE-RFC4391-9.3-01-answer",
     .checks = {&rfc4391::nd_option_used},
     .title = "an advertisement that answers a solicitation in a group carries the link-layer address",
     .needs = over_ib | parts(Part::lrh, Part::nd),
     .evidence = Evidence::nothing_between,
     .over = since_asked,
     .applies =
         [](const Packet& p, const Known& known) {
             return p.icmpv6[Icmpv6::type] == Icmpv6Type::neighbour_advertisement && known.answers &&
                    known.answers->group != state::none && !known.answers_again &&
                    !p.ipv6[Ipv6::destination].is_multicast();
         },
     .holds =
         [](const Packet& p) {
             return p.source_option || p.target_option || p.has(Part::nd_wrong) || p.is_truncated || p.is_fragment ||
                    p.stop;
         },
     .points_at = Icmpv6::type,
     .expected = "a Target Link-layer Address option, since the solicitation went to a group",
     .actual_of = [](const Packet&, const Known&) { return std::string("none"); }},
    {.id = "RULE-RFC4391-9.1.2-01",
     .checks = {&rfc4391::lid_by_iba_methods},
     .title = "the DLID is one that the SA told the sender for the receiver's GID",
     .needs = unicast,
     .evidence = Evidence::nothing_between,
     .knows = facts(Fact::path),
     .over = since_path,
     .applies = has_ways,
     .fades =
         [](const Packet&, const Known& known) {
             return known.path->changed || (known.path_target && known.path_target->lmc_changed);
         },
     .holds = is_right_dlid,
     .points_at = Lrh::dlid,
     .expected_of =
         [](const Packet&, const Known& known) {
             return hex(known.path->ways[0].dlid, 4) + ", as in frame " + std::to_string(known.path->told.frame);
         }},
    {.id = "RULE-RFC4391-9.1.2-05",
     .checks = {&rfc4391::sl_by_iba_methods},
     .title = "the SL is one that the SA told the sender for the path",
     .needs = unicast,
     .evidence = Evidence::nothing_between,
     .knows = facts(Fact::path),
     // RFC 4391, 9.1.2 d: how the SL is found is not defined.
     .over =
         [](const Packet&, const Known&) {
             return state::Span{.doubts = state::Reason{Doubt::another_source,
                                                        "a sender may find the SL in other ways than by a PathRecord"}};
         },
     .applies = has_ways,
     .holds =
         [](const Packet& p, const Known& known) {
             const auto sl = p.lrh[Lrh::sl];
             const bool came_with_it = known.destination && (known.destination->service_levels >> sl & 1) != 0;
             return came_with_it || takes_way(known, [sl](const auto& way) { return way.sl == sl; });
         },
     .points_at = Lrh::sl,
     .expected_of =
         [](const Packet&, const Known& known) {
             return std::to_string(known.path->ways[0].sl) + ", as in frame " + std::to_string(known.path->told.frame);
         }},
    // A sender may know the rate in other ways, as by the group's record, so it cannot be accused of not having asked.
    {.id = "RULE-RFC4391-9.1-06",
     .checks = {&rfc4391::path_rate_before_data},
     .title = "the rate of the path was told before data goes over it",
     .needs = unicast,
     .evidence = Evidence::one_frame,
     .knows = facts(Fact::path),
     .applies =
         [](const Packet& p, const Known& known) {
             return is_unicast(p) && is_ip(p) && takes_way(known, [](const auto& way) { return way.rate != 0; });
         },
     .notes = [](const Packet&) { return true; },
     .note = "data over paths whose rate the SA had told the sender",
     .points_at = Lrh::dlid},
    {.id = "RULE-RFC4392-4.1-01",
     .checks = {&rfc4392::one_pkey_per_subnet},
     .title = "a queue pair sends with one P_Key",
     .needs = over_ib | parts(Part::lrh, Part::deth),
     .evidence = Evidence::nothing_between,
     .knows = facts(Fact::sender),
     .over =
         [](const Packet&, const Known& known) {
             state::Span span{.since = known.source->first};
             span.senders[0] = {{known.source->lid, known.source->qpn}, known.source->first};
             return span;
         },
     .applies = [](const Packet&, const Known& known) { return known.source && known.source->p_key != 0; },
     .holds = [](const Packet& p, const Known& known) { return known.source->is_in(p.bth[Bth::p_key]); },
     .points_at = Bth::p_key,
     .expected = "the P_Key that this queue pair was first seen with, or one that it announces itself with"},
};
static_assert(are_declared(rules_of_context_unicast));

}  // namespace

std::span<const Rule> context_unicast() { return rules_of_context_unicast; }

}  // namespace ipoib::rules
