// SPDX-License-Identifier: GPL-2.0-or-later
// Words that several rules use.
#pragma once

#include "protocol/rules/rule.hpp"
#include "protocol/wire/decoder.hpp"
#include "protocol/wire/text.hpp"

namespace ipoib::rules {

using namespace wire;  // the rules speak of headers and fields all the time
using state::Doubt;

/// Whether each rule of a table says what proves its violations, and names the interval where that is an interval.
constexpr bool are_declared(std::span<const Rule> rules) {
    for (const auto& rule : rules) {
        const bool has_interval = rule.over || rule.duty.has_value();
        if (rule.evidence == Evidence::undeclared) return false;
        if ((rule.evidence == Evidence::nothing_between) != has_interval) return false;
    }
    return true;
}

/// What a port had queued may still leave it as things were before.
inline constexpr std::int64_t grace = 5'000'000'000;  // ns

/// Parts of an IPoIB packet that an InfiniBand capture shows.
inline constexpr Parts over_ib = parts(Part::ipoib, Part::bth);

/// The least packet that a link must take, and what a connection needs for it: the encapsulation header, too. RFC 791,
/// 3.2; RFC 8200, 5.
inline constexpr std::uint32_t least_of_ipv4 = 68 + Encap::size, least_of_ipv6 = 1280 + Encap::size;
/// The largest message of a connection, in octets. IBTA Vol 1, 9.7.
inline constexpr std::uint32_t largest_message = std::uint32_t{1} << 31;
constexpr bool can_be_receive_mtu(std::uint32_t octets) noexcept { return octets != 0 && octets <= largest_message; }

/// The datagram is ARP or RARP, IPv4, IPv6 by its own octets (a wrong Type is another rule's finding).
inline bool carries(const Packet& p, EtherType type) { return p.content == type; }

/// A Type below 0x0600 is none (IEEE 802.3, 3.2.6), and no other one than its own stands before a whole IP packet or
/// ARP, which has more operations than RARP's two.
inline bool can_be_type(EtherType type, Octets datagram, std::size_t length) {
    constexpr std::uint16_t least_type = 0x0600;
    if (static_cast<std::uint16_t>(type) < least_type) return false;
    const auto content = wire::detail::proven_content(datagram, length);
    const bool is_resolution = wire::detail::is_arp_like(type) && wire::detail::is_arp_like(content);
    return content == EtherType{} || content == type || is_resolution;
}
/// The packet goes to the broadcast group of a link.
inline bool is_to_broadcast(const Packet& p) { return p.grh && is_broadcast_gid(p.grh[Grh::dgid]); }

/// The group that a request to the SA, or its answer, is about.
inline Gid joined(const Packet& p) { return p.mc_member[McMemberRecord::mgid]; }

/// The SA has granted a request and returned a group's record.
inline bool is_granted(const Packet& p) {
    if (!p.mc_member || p.mad[Mad::status] != 0) return false;
    const auto method = p.mad[Mad::method];
    return method == Method::get_resp || method == Method::get_table_resp;
}
/// The record that the SA returned for a broadcast group.
inline bool is_broadcast_record(const Packet& p) { return is_granted(p) && is_broadcast_gid(joined(p)); }

/// A request to the SA for a group of IPoIB.
inline bool is_join(const Packet& p) { return p.mad[Mad::method] == Method::set && has_ipoib_signature(joined(p)); }
/// Whether a request gives all these components of its record.
inline bool gives(const Packet& p, std::uint64_t components) {
    return (p.sa[SaHeader::component_mask] & components) == components;
}
/// The JoinState that a request asks for; 0 where it does not give one.
inline std::uint8_t asked_state(const Packet& p) {
    return gives(p, McMemberRecord::component::join_state) ? p.mc_member[McMemberRecord::join_state] : std::uint8_t{0};
}
/// A FullMember join that gives what only the creator of a group has to give. One of these parameters alone may also be
/// a condition that the group must meet, and a group that exists is not created.
inline bool is_creation(const Packet& p, const Known& known) {
    using component = McMemberRecord::component;
    if (!is_join(p) || (asked_state(p) & join_state::full_member) == 0) return false;
    if (known.group && known.group->record && known.group->existence != state::Existence::missing) return false;
    const int given = gives(p, component::q_key) + gives(p, component::sl) + gives(p, component::flow_label) +
                      gives(p, component::traffic_class);
    return given > 1;
}

/// The Neighbour Discovery option that holds the sender's own link-layer address; absent where there is none.
inline View<LinkAddressOption> own_option(const Packet& p) {
    if (!p.icmpv6) return {};
    const auto type = p.icmpv6[Icmpv6::type];
    if (type == Icmpv6Type::neighbour_advertisement) return p.target_option;
    return type == Icmpv6Type::redirect ? View<LinkAddressOption>{} : p.source_option;
}

/// The queue pair of a port: neither one of management nor the one that stands for a group.
inline bool is_port_qpn(std::uint32_t qpn) { return qpn > 1 && qpn != Bth::multicast_qp; }

inline constexpr std::uint32_t controlled_bit = 0x80000000;
inline bool is_controlled(std::uint32_t q_key) { return (q_key & controlled_bit) != 0; }

/// 224.0.0.0/4, in host byte order.
inline bool is_ipv4_group(std::uint32_t address) { return address >> 28 == 0xe; }

/// What is said of a value that a stack would also show by chance.
inline constexpr std::string_view usual_default =
    "the group's value is also the usual default, so these packets prove little";

/// All that the subject has said to the SA and heard from it since then.
inline state::Span with_sa(const Known& known, const state::Sight& since) {
    return {.since = since, .requester = known.subject ? known.subject->lid : std::uint16_t{0}};
}
/// An SM that starts anew does not hold what it has told before. It asks its ports to register by packets of queue
/// pair 0, and has groups of its administrator's that nobody asks for. It takes a while, so that what was told shortly
/// before holds still. Where it did not for sure, somebody else may have changed it all the same, unless the capture is
/// the evidence of a run.
inline state::Reasons may_be_told_anew(const state::Sight& told, const state::Sight& at) {
    constexpr std::int64_t shortest_start = 1'000'000'000;  // ns
    state::Reasons reasons{{Doubt::unseen_act, "what may have changed it need not pass this capture"}};
    if (!told || at.steady - told.steady >= shortest_start)
        reasons.add(
            {Doubt::unseen_act, "the SM may have started anew, with other groups: that need not pass here", true});
    return reasons;
}
/// What another port was told at some time; this one goes by what it knew, until it is asked to register anew. One
/// whose life on the link has begun in the capture knew nothing.
inline state::Span since_other_was_told(const Known& known, const state::Sight& told) {
    auto span = with_sa(known, told);
    span.doubts.add({.doubt = Doubt::life_before,
                     .text = "the capture does not show what the SA has told this port, which may be older",
                     .also = assumptions(state::Assumption::whole)});
    span.has_changed = !known.of_broadcast || !known.of_broadcast->watched_since;
    if (span.has_changed) span.time_to_switch = grace;
    return span;
}
/// What the SA tells a port anew need not hold for what the port had queued, if that has a value of before
/// (`was_right`). One that has come up in the capture, and been told once, had nothing before; what one was told before
/// the capture is not known.
inline void lets_switch(state::Span& span, const Known& known, const state::Member* member, bool was_right) {
    constexpr std::int64_t queued = 1'000'000'000;  // ns
    if (!member) return;
    const bool is_first = member->grants <= 1;
    const bool has_come_up = known.of_broadcast && known.of_broadcast->down;
    if (is_first ? !has_come_up : was_right) span.time_to_switch = queued;
    // Another program of the port may have been told first that the broadcast group is another one now.
    if (!known.link || !known.link->is_disputed || !was_right) return;
    span.time_to_switch = grace;
    span.has_changed = true;
}
/// Whether the SA has told somebody another record of the link's broadcast group, which had this value.
template <auto Member, class Value>
bool was_told_before(const Known& known, const Value& value) {
    if (!known.link || !known.told_records) return false;
    const auto& all = *known.told_records;
    for (auto index = known.link->latest_told; index != state::none; index = all[index].before)
        if (&all[index].parameters != known.broadcast && all[index].parameters.*Member == value) return true;
    return false;
}
/// When the broadcast group has come back with another Q_Key, a group that has stayed has the one that it had, which
/// the SA tells with its record.
inline bool has_q_key_of_its_group(const wire::Packet& p, const Known& known) {
    return known.link && known.link->is_disputed && known.group && known.group->record &&
           p.deth[wire::Deth::q_key] == known.group->record->q_key;
}

/// Since the SA told the subject the broadcast group's record, for what it has to take from there. What the user says
/// of the link needs no proof.
inline state::Span since_told(const Known& known, bool was_right) {
    if (known.link && known.link->source != state::Source::sa && known.link->broadcast) return {.is_given = true};
    if (known.link && (!known.of_broadcast || !known.of_broadcast->joined_at))
        return since_other_was_told(known, known.link->learned);
    auto span = with_sa(known, known.of_broadcast ? known.of_broadcast->joined_at : state::Sight{});
    lets_switch(span, known, known.of_broadcast, was_right);
    return span;
}
inline state::Span since_told(const Packet&, const Known& known) { return since_told(known, true); }
/// The same, for a packet with another value of one parameter.
template <auto Member, auto Of>
state::Span since_told_of(const Packet& p, const Known& known) {
    return since_told(known, was_told_before<Member>(known, Of(p)));
}
inline std::uint32_t q_key_of(const Packet& p) { return p.deth[wire::Deth::q_key]; }
inline constexpr Over since_told_q_key = since_told_of<&GroupParameters::q_key, q_key_of>;

inline constexpr state::Reason may_be_member_by_another_gid{
    Doubt::another_interface, "several GIDs share the port, which may be a member by another one"};
/// All that it has said to the SA and heard from it since it joined the broadcast group.
inline state::Span since_first_join(const Known& known) {
    auto span = with_sa(known, known.of_broadcast ? known.of_broadcast->watched_since : state::Sight{});
    if (known.shares_port) span.doubts.add(may_be_member_by_another_gid);
    return span;
}
/// The same, where that join has begun the port's life on the link.
inline state::Span since_life_began(const Packet&, const Known& known) {
    auto span = since_first_join(known);
    state::begins_with_join(span, known.of_broadcast);
    return span;
}
/// A join that gives all parameters of a group which exists is a check, and creates nothing: the SA must have told that
/// there was none, by an answer before or by a report since. All that the creator has said to the SA since it
/// joined the broadcast group must be there, unless the user has said what it has to give.
inline state::Span since_start(const Packet& p, const Known& known) {
    const bool is_given = since_told(p, known).is_given;
    if (known.group && known.group->existence == state::Existence::missing)
        return is_given ? state::Span{.is_given = true} : since_first_join(known);
    auto span = is_given ? state::Span{.since = known.now} : since_first_join(known);
    span.created = known.group_index;
    return span;
}

/// " in frame 17"
inline std::string in_frame(const state::Sight& sight) { return " in frame " + std::to_string(sight.frame); }
/// For `expected_of`: the broadcast group's value, and where it was told if it had another one before.
template <auto Member, unsigned Digits>
std::string of_group(const Packet&, const Known& known) {
    const bool has_changed = known.link && known.link->is_disputed && known.of_broadcast;
    return hex((*known.broadcast).*Member, Digits) + ", as in the broadcast group's record" +
           (has_changed ? in_frame(known.of_broadcast->joined_at) : std::string());
}

}  // namespace ipoib::rules
