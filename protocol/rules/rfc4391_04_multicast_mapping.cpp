// SPDX-License-Identifier: GPL-2.0-or-later
// RFC 4391, 4 and 4.1: how IP groups map to MGIDs, and the broadcast group's parameters.
#include "protocol/requirements/catalogue.hpp"
#include "protocol/rules/common.hpp"

#include <algorithm>

namespace ipoib::rules {
namespace {

constexpr std::uint64_t all_routers = 2;
constexpr auto or_redirected = ", or the all-router or broadcast group";

std::uint32_t ipv4_destination(const Packet& p) { return p.ipv4 ? p.ipv4[Ipv4::destination] : 0; }

Gid ipv6_destination(const Packet& p) { return p.ipv6 ? p.ipv6[Ipv6::destination] : Gid{}; }
unsigned ipv6_scope(const Gid& group) { return group.octets[1] & 0xfu; }

std::uint64_t group_low(const Packet& p) { return p.mgid[Mgid::group_low]; }

bool is_broadcast_group(const Packet& p) {
    return p.mgid[Mgid::signature] == ipv4_signature && p.mgid[Mgid::group_high] == 0 && group_low(p) == 0xffffffff;
}

/// No router takes a packet of this scope on: without a group of its own it is dropped. RFC 4391, 10.
bool is_link_local(const Packet& p) {
    constexpr std::uint32_t link_local_groups = 0xe00000;  // 224.0.0.0/24
    return p.ipv4 ? ipv4_destination(p) >> 8 == link_local_groups : ipv6_scope(ipv6_destination(p)) <= 2;
}
bool went_to_routers(const Packet& p, std::uint16_t signature) {
    const bool routers =
        p.mgid[Mgid::signature] == signature && p.mgid[Mgid::group_high] == 0 && group_low(p) == all_routers;
    return routers || is_broadcast_group(p);
}
/// RFC 4391, 10: without a group of its own a packet beyond link-local scope goes to the routers' group or to all.
bool was_redirected(const Packet& p, std::uint16_t signature) {
    return !is_link_local(p) && went_to_routers(p, signature);
}

bool ipv4_group_matches(const Packet& p) {
    const auto destination = ipv4_destination(p);
    if ((group_low(p) & 0x0fffffff) == (destination & 0x0fffffff)) return true;
    return was_redirected(p, ipv4_signature);
}

bool maps_ipv6(const Packet& p) {
    const auto destination = ipv6_destination(p);
    return p.mgid[Mgid::group_high] == (destination.prefix() & 0xffff) && group_low(p) == destination.interface_id();
}

bool ipv6_group_matches(const Packet& p) { return maps_ipv6(p) || was_redirected(p, ipv6_signature); }

/// A packet that was redirected says nothing of its own group's mapping.
bool is_ipv4_multicast(const Packet& p) {
    const auto destination = ipv4_destination(p);
    if (!is_ipv4_group(destination)) return false;
    const bool maps = (group_low(p) & 0x0fffffff) == (destination & 0x0fffffff);
    return maps || !ipv4_group_matches(p);
}
/// ff01:: and ff00:: never leave the interface, so they have no mapping.
bool is_ipv6_multicast(const Packet& p) {
    const auto destination = ipv6_destination(p);
    if (!destination.is_multicast() || ipv6_scope(destination) <= 1) return false;
    return maps_ipv6(p) || !ipv6_group_matches(p);
}
bool is_ipv4_family(const Packet& p) { return p.content != EtherType::ipv6 && p.content != EtherType{}; }
bool is_broadcast_data(const Packet& p) { return is_to_broadcast(p); }
bool is_record(const Packet& p) { return is_broadcast_record(p); }

/// A broadcast-GID at the SA: asked for, or granted.
bool is_broadcast_gid_at_sa(const Packet& p) {
    return is_broadcast_record(p) || (is_join(p) && is_broadcast_gid(joined(p)));
}

bool is_swapped(std::uint16_t value, std::initializer_list<std::uint16_t> known) {
    for (const auto k : known)
        if (value == swapped(k)) return true;
    return false;
}

std::string link_p_key(const Packet& p, const Known&) { return hex(p.bth[Bth::p_key] | full_membership, 4); }
std::string mgid_text(const Packet& p, const Known&) {
    Gid gid;
    std::copy_n(p.mgid.data(), Mgid::size, gid.octets.begin());
    return text(gid);
}

/// Since it is known that the interface is on this link and no other of the partition: by its join, or by what its
/// queue pair has sent to the broadcast-GID.
state::Span since_on_link(const Packet& p, const Known& known) {
    const bool is_shown = known.source && known.source->link_since;
    if ((known.of_broadcast && known.of_broadcast->joined_at) || !is_shown) return since_told(p, known);
    // It may have joined the broadcast group of another scope since.
    auto span = with_sa(known, known.source->link_since);
    span.senders[0] = {{known.source->lid, known.source->qpn}, known.source->link_since};
    return span;
}

/// The broadcast group, or another one of which it is known whether its record differs.
bool has_told_record(const Packet& p, const Known& known) {
    return is_to_broadcast(p) || (known.group && known.group->record);
}

/// The broadcast group, or another one whose record the SA has told the sender.
bool was_told_record(const Packet& p, const Known& known) {
    if (is_to_broadcast(p)) return true;
    const auto* member = known.member;
    if (!known.group || !known.group->record || !member || !member->joined_at) return false;
    // What a group that was made anew has, only who was told both values is known to have been told.
    return !known.group->mlid_has_changed || member->told_before;
}
/// One of the values that a group gives to the headers of its packets: where it stands.
template <auto OfGroup, auto OfMember>
struct ValueOf {
    static constexpr auto of_group = OfGroup;
    static constexpr auto of_member = OfMember;
};
using state::GroupValues;
struct Sl : ValueOf<&GroupParameters::sl, &GroupValues::sl> {
    static std::uint32_t in(const Packet& p) { return p.lrh[Lrh::sl]; }
};
struct TrafficClass : ValueOf<&GroupParameters::traffic_class, &GroupValues::traffic_class> {
    static std::uint32_t in(const Packet& p) { return p.grh[Grh::traffic_class]; }
};
struct FlowLabel : ValueOf<&GroupParameters::flow_label, &GroupValues::flow_label> {
    static std::uint32_t in(const Packet& p) { return p.grh[Grh::flow_label]; }
};
struct HopLimit : ValueOf<&GroupParameters::hop_limit, &GroupValues::hop_limit> {
    static std::uint32_t in(const Packet& p) { return p.grh[Grh::hop_limit]; }
};
/// A value is the broadcast group's, or the one that an administrator has given the group itself: as the sender was
/// told, or as others were since.
template <class Value>
bool is_of_group(const Packet& p, const Known& known) {
    const auto value = Value::in(p);
    const auto* group = known.group;
    const auto* member = known.member;
    if (value == (*known.broadcast).*Value::of_group) return true;
    if (group && group->record && value == (*group->record).*Value::of_group) return true;
    return member && member->told && value == (*member->told).*Value::of_member;
}
/// Since the sender was told, of its group or the broadcast group: what it was told before may still be queued.
template <class Value>
state::Span since_told_value(const Packet& p, const Known& known) {
    auto span = since_told_of<Value::of_group, Value::in>(p, known);
    if (span.is_given || is_to_broadcast(p) || !known.member || !known.member->joined_at) return span;
    const auto& before = known.member->told_before;
    const bool was_right = span.has_changed || (before && (*before).*Value::of_member == Value::in(p));
    span = with_sa(known, known.member->joined_at);
    lets_switch(span, known, known.member, was_right);
    return span;
}

constexpr Rule rules_of_rfc4391_04[] = {
    {.id = "RULE-RFC4391-4-01",
     .checks = {&rfc4391::mgid_format, &rfc4392::mgid_reserved_flags},
     .title = "an MGID begins with FF and has no flag but T",
     .needs = over_ib | parts(Part::mgid),
     .evidence = Evidence::one_frame,
     .holds = [](const Packet& p) { return p.mgid[Mgid::reserved] == 0; },
     .points_at = Mgid::reserved,
     .expected = "0"},
    {.id = "RULE-RFC4391-4-02",
     .checks = {&rfc4391::mgid_t_flag},
     .title = "the T flag of an MGID is 1",
     .needs = parts(Part::ipoib, Part::mgid),
     .evidence = Evidence::one_frame,
     .holds = [](const Packet& p) { return p.mgid[Mgid::transient]; },
     .points_at = Mgid::transient,
     .expected = "1"},
    {.id = "RULE-RFC4391-4-03",
     .checks = {&rfc4391::mgid_ipv4_signature},
     .title = "an MGID that carries IPv4, ARP or RARP has the signature 0x401B",
     .needs = parts(Part::ipoib, Part::mgid),
     .evidence = Evidence::one_frame,
     .applies = is_ipv4_family,
     .holds = [](const Packet& p) { return p.mgid[Mgid::signature] == ipv4_signature; },
     .points_at = Mgid::signature,
     .expected = "0x401b"},
    {.id = "RULE-RFC4391-4-04",
     .checks = {&rfc4391::mgid_ipv6_signature},
     .title = "an MGID that carries IPv6 has the signature 0x601B, the broadcast-GID excepted",
     .needs = parts(Part::ipoib, Part::mgid, Part::ipv6),
     .evidence = Evidence::one_frame,
     .applies = [](const Packet& p) { return !is_broadcast_group(p); },
     .holds = [](const Packet& p) { return p.mgid[Mgid::signature] == ipv6_signature; },
     .points_at = Mgid::signature,
     .expected = "0x601b"},
    {.id = "RULE-RFC4391-4-05",
     .checks = {&rfc4391::mgid_pkey},
     .title = "an MGID holds the link's P_Key with the full-membership bit",
     .needs = over_ib | parts(Part::mgid),
     .evidence = Evidence::one_frame,
     .applies = [](const Packet& p) { return !p.has(Part::connected); },
     .holds = [](const Packet& p) { return p.mgid[Mgid::p_key] == (p.bth[Bth::p_key] | full_membership); },
     .points_at = Mgid::p_key,
     .expected_of = link_p_key},
    {.id = "RULE-RFC4391-4-06",
     .checks = {&rfc4391::mgid_ipv6_group_id},
     .title = "the low 80 bits of an IPv6 group are those of the MGID",
     .needs = parts(Part::ipoib, Part::mgid, Part::ipv6),
     .evidence = Evidence::one_frame,
     .applies = is_ipv6_multicast,
     .holds = ipv6_group_matches,
     .points_at = Mgid::group_low,
     .expected_of =
         [](const Packet& p, const Known&) {
             const auto group = ipv6_destination(p);
             return "the low 80 bits of " + text(group) + or_redirected;
         },
     .actual_of = mgid_text},
    {.id = "RULE-RFC4391-4-07",
     .checks = {&rfc4391::mgid_ipv4_group_id},
     .title = "the low 28 bits of an IPv4 group are those of the MGID",
     .needs = parts(Part::ipoib, Part::mgid, Part::ipv4),
     .evidence = Evidence::one_frame,
     .applies = is_ipv4_multicast,
     .holds = ipv4_group_matches,
     .points_at = Mgid::group_low,
     .expected_of =
         [](const Packet& p, const Known&) {
             const auto group = ipv4_destination(p);
             return "the low 28 bits of " + ipv4_text(group) + or_redirected;
         },
     .actual_of = mgid_text},
    {.id = "RULE-RFC4391-4-08",
     .checks = {&rfc4391::mgid_ipv4_padding},
     .title = "the other 52 group ID bits of an IPv4 group's MGID are 0",
     .needs = parts(Part::ipoib, Part::mgid, Part::ipv4),
     .evidence = Evidence::one_frame,
     .applies = [](const Packet& p) { return is_ipv4_multicast(p) && !went_to_routers(p, ipv4_signature); },
     .holds = [](const Packet& p) { return p.mgid[Mgid::group_high] == 0 && group_low(p) >> 28 == 0; },
     .points_at = Mgid::group_low,
     .expected = "0 in the bits above the low 28",
     .actual_of = mgid_text},
    {.id = "RULE-RFC4391-4-09",
     .checks = {&rfc4391::limited_broadcast_mapping, &rfc4391::broadcast_group_carries_broadcasts},
     .title = "255.255.255.255 goes to the broadcast-GID",
     .needs = over_ib | parts(Part::ipv4),
     .evidence = Evidence::one_frame,
     .applies = [](const Packet& p) { return ipv4_destination(p) == 0xffffffff && (!p.is_multicast || p.grh); },
     .holds = is_broadcast_data,
     .points_at = Grh::dgid,
     .expected = "the broadcast-GID"},
    {.id = "RULE-RFC4391-4-10",
     .checks = {&rfc4391::broadcast_gid_format, &rfc4391::broadcast_group_carries_broadcasts},
     .title = "the broadcast-GID is FF1s:401B:<P_Key>::FFFF:FFFF",
     .needs = over_ib | parts(Part::mgid, Part::arp),
     .evidence = Evidence::one_frame,
     .holds = is_broadcast_data,
     .points_at = Grh::dgid,
     .expected = "the broadcast-GID"},
    {.id = "RULE-RFC4391-4-11",
     .checks = {&rfc4391::mgid_scope_of_broadcast_gid},
     .title = "all MGIDs of a link have the scope of its broadcast-GID",
     .needs = over_ib | parts(Part::mgid),
     .evidence = Evidence::nothing_between,
     .knows = facts(Fact::broadcast_gid),
     .over = since_on_link,
     // Without the record the broadcast-GID comes from these very packets.
     .applies = [](const Packet& p, const Known& known) { return known.broadcast || !is_broadcast_group(p); },
     .holds = [](const Packet& p,
                 const Known& known) { return p.mgid[Mgid::scope] == mgid_of(*known.broadcast_gid)[Mgid::scope]; },
     .points_at = Mgid::scope,
     .expected_of =
         [](const Packet&, const Known& known) {
             return hex(mgid_of(*known.broadcast_gid)[Mgid::scope], 1) + ", that of the broadcast-GID";
         }},
    {.id = "RULE-RFC4391-4-12-type",
     .checks = {&rfc4391::network_byte_order},
     .title = "Type is in network byte order",
     .needs = parts(Part::ipoib, Part::encap),
     .evidence = Evidence::one_frame,
     .holds =
         [](const Packet& p) {
             return !is_swapped(static_cast<std::uint16_t>(p.ether_type), {0x0800, 0x0806, 0x8035, 0x86dd});
         },
     .points_at = Encap::type,
     .expected = "most significant octet first"},
    {.id = "RULE-RFC4391-4-12-arp",
     .checks = {&rfc4391::network_byte_order},
     .title = "the fields of ARP are in network byte order",
     .needs = parts(Part::ipoib, Part::arp),
     .evidence = Evidence::one_frame,
     .holds =
         [](const Packet& p) {
             return !is_swapped(p.arp[Arp::hardware], {Arp::infiniband}) &&
                    !is_swapped(p.arp[Arp::protocol], {0x0800}) &&
                    !is_swapped(p.arp[Arp::operation], {Arp::request, Arp::reply});
         },
     .points_at = Arp::hardware,
     .expected = "most significant octet first",
     .actual_of =
         [](const Packet& p, const Known&) {
             return "hardware type " + hex(p.arp[Arp::hardware], 4) + ", protocol " + hex(p.arp[Arp::protocol], 4) +
                    ", operation " + hex(p.arp[Arp::operation], 4);
         }},
    {.id = "RULE-RFC4391-4-12-mgid",
     .checks = {&rfc4391::network_byte_order},
     .title = "the signature of an MGID is in network byte order",
     .needs = parts(Part::ipoib, Part::mgid),
     .evidence = Evidence::one_frame,
     .holds = [](const Packet& p) { return !is_swapped_signature(p.mgid[Mgid::signature]); },
     .points_at = Mgid::signature,
     .expected = "most significant octet first"},
    {.id = "RULE-RFC4391-4-02-join",
     .checks = {&rfc4391::mgid_t_flag},
     .title = "the T flag is 1 in the MGID of a join",
     .needs = parts(Part::mc_member),
     .evidence = Evidence::one_frame,
     .applies = is_join,
     .holds = [](const Packet& p) { return mgid_of(joined(p))[Mgid::transient]; },
     .points_at = McMemberRecord::mgid,
     .expected = "T flag 1"},
    {.id = "RULE-RFC4391-4-05-join",
     .checks = {&rfc4391::mgid_pkey},
     .title = "the MGID of a join holds the P_Key of its record with the full-membership bit",
     .needs = parts(Part::mc_member),
     .evidence = Evidence::one_frame,
     .applies =
         [](const Packet& p) {
             return is_join(p) && (p.sa[SaHeader::component_mask] & McMemberRecord::component::p_key) != 0;
         },
     .holds =
         [](const Packet& p) {
             return mgid_of(joined(p))[Mgid::p_key] == (p.mc_member[McMemberRecord::p_key] | full_membership);
         },
     .points_at = McMemberRecord::mgid,
     .expected = "one P_Key in both, in the MGID with the full-membership bit",
     .actual_of =
         [](const Packet& p, const Known&) {
             return hex(p.mc_member[McMemberRecord::p_key], 4) + " in the record, " +
                    hex(mgid_of(joined(p))[Mgid::p_key], 4) + " in the MGID";
         }},
    {.id = "RULE-RFC4391-4-08-join",
     .checks = {&rfc4391::mgid_ipv4_padding},
     .title = "the MGID of a join of an IPv4 group has 0 above the low 28 bits",
     .needs = parts(Part::mc_member),
     .evidence = Evidence::one_frame,
     .applies =
         [](const Packet& p) {
             const auto mgid = mgid_of(joined(p));
             return is_join(p) && mgid[Mgid::signature] == ipv4_signature && !is_broadcast_gid(joined(p));
         },
     .holds = [](const Packet& p) { return ipv4_group_of(joined(p)).has_value(); },
     .points_at = McMemberRecord::mgid,
     .expected = "0 in the bits above the low 28"},
    {.id = "RULE-RFC4391-4.1-01",
     .checks = {&rfc4391::broadcast_group_full_pkey},
     .title = "the broadcast group has a full-membership P_Key",
     .needs = parts(Part::mc_member),
     .evidence = Evidence::one_frame,
     .applies = is_record,
     .holds =
         [](const Packet& p) {
             const auto in_mgid = mgid_of(p.mc_member[McMemberRecord::mgid])[Mgid::p_key];
             return is_full_member(p.mc_member[McMemberRecord::p_key]) && is_full_member(in_mgid);
         },
     .points_at = McMemberRecord::p_key,
     .expected = "the high bit set, in record and MGID",
     .actual_of =
         [](const Packet& p, const Known&) {
             return hex(p.mc_member[McMemberRecord::p_key], 4) + " in the record, " +
                    hex(mgid_of(joined(p))[Mgid::p_key], 4) + " in the MGID";
         }},
    {.id = "RULE-RFC4391-4.1-02",
     .checks = {&rfc4391::broadcast_group_controlled_qkey},
     .title = "the broadcast group has a controlled Q_Key",
     .needs = parts(Part::mc_member),
     .evidence = Evidence::one_frame,
     .applies = is_record,
     .holds = [](const Packet& p) { return is_controlled(p.mc_member[McMemberRecord::q_key]); },
     .points_at = McMemberRecord::q_key,
     .expected = "the high bit set"},
    {.id = "RULE-RFC4391-4.1-05",
     .checks = {&rfc4391::sl_of_broadcast_group, &rfc4391::adopts_broadcast_parameters},
     .title = "multicast packets have the broadcast group's SL",
     .needs = over_ib | parts(Part::mgid),
     .evidence = Evidence::nothing_between,
     .knows = facts(Fact::sl),
     .over = since_told_value<Sl>,
     .applies = has_told_record,
     // An administrator may have given the group itself another one.
     .holds = [](const Packet& p, const Known& known) { return is_of_group<Sl>(p, known); },
     .notes = [](const Packet&, const Known& known) { return known.broadcast->sl == 0; },
     .note = usual_default,
     .points_at = Lrh::sl,
     .expected_of = of_group<&GroupParameters::sl, 1>},
    {.id = "RULE-RFC4391-4.1-07",
     .checks = {&rfc4391::broadcast_gid_default_scope},
     .title = "the broadcast-GID has local-subnet scope by default",
     .needs = parts(Part::mc_member),
     .evidence = Evidence::one_frame,
     .applies = is_broadcast_gid_at_sa,
     .notes = [](const Packet& p) { return mgid_of(joined(p))[Mgid::scope] != 2; },
     .note = "broadcast-GIDs of another scope than 2, as configured",
     .points_at = McMemberRecord::mgid},
    {.id = "RULE-RFC4391-4.1-09-tclass",
     .checks = {&rfc4391::multicast_parameters_of_group},
     .title = "multicast packets have the TClass of the group",
     .needs = over_ib | parts(Part::grh, Part::mgid),
     .evidence = Evidence::nothing_between,
     .knows = facts(Fact::traffic_class),
     .over = since_told_value<TrafficClass>,
     .applies = was_told_record,
     .holds = [](const Packet& p, const Known& known) { return is_of_group<TrafficClass>(p, known); },
     .notes = [](const Packet&, const Known& known) { return known.broadcast->traffic_class == 0; },
     .note = usual_default,
     .points_at = Grh::traffic_class,
     .expected_of = of_group<&GroupParameters::traffic_class, 2>},
    {.id = "RULE-RFC4391-4.1-09-flow-label",
     .checks = {&rfc4391::multicast_parameters_of_group},
     .title = "multicast packets have the FlowLabel of the group",
     .needs = over_ib | parts(Part::grh, Part::mgid),
     .evidence = Evidence::nothing_between,
     .knows = facts(Fact::flow_label),
     .over = since_told_value<FlowLabel>,
     .applies = was_told_record,
     .holds = [](const Packet& p, const Known& known) { return is_of_group<FlowLabel>(p, known); },
     .notes = [](const Packet&, const Known& known) { return known.broadcast->flow_label == 0; },
     .note = usual_default,
     .points_at = Grh::flow_label,
     .expected_of = of_group<&GroupParameters::flow_label, 5>},
    {.id = "RULE-RFC4391-4.1-09-hop-limit",
     .checks = {&rfc4391::multicast_parameters_of_group},
     .title = "multicast packets have the HopLimit of the group",
     .needs = over_ib | parts(Part::grh, Part::mgid),
     .evidence = Evidence::nothing_between,
     .knows = facts(Fact::hop_limit),
     .over = since_told_value<HopLimit>,
     .applies = was_told_record,
     .holds =
         [](const Packet& p, const Known& known) {
             // Beyond local-subnet scope a router on the way has counted it down.
             const auto hop_limit = p.grh[Grh::hop_limit], of_record = known.broadcast->hop_limit;
             return is_of_group<HopLimit>(p, known) || (p.mgid[Mgid::scope] > 2 && hop_limit < of_record);
         },
     .notes = [](const Packet&, const Known& known) { return known.broadcast->hop_limit == 0; },
     .note = usual_default,
     .points_at = Grh::hop_limit,
     .expected_of = of_group<&GroupParameters::hop_limit, 2>},
};
static_assert(are_declared(rules_of_rfc4391_04));

}  // namespace

std::span<const Rule> rfc4391_04() { return rules_of_rfc4391_04; }

}  // namespace ipoib::rules
