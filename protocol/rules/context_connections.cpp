// SPDX-License-Identifier: GPL-2.0-or-later
// Answers of communication management to IPoIB's requests for a connection. RFC 4755, 3 and 6.
#include "protocol/requirements/catalogue.hpp"
#include "protocol/rules/common.hpp"
#include "protocol/wire/cm.hpp"
#include "protocol/wire/misplaced.hpp"

#include <algorithm>

namespace ipoib::rules {
namespace {

/// The channel adapter's own "nobody listens", of an implementation without connected mode.
constexpr std::uint16_t invalid_service_id = 8;

/// What a connection takes if nothing else is agreed on. RFC 4755, 5.
constexpr std::uint32_t default_message = 2048;

View<CmPrivateData> private_data_of_rep(const Packet& p) { return ipoib_private_data(p.get<CmRep>()); }
View<CmPrivateData> private_data_of_rej(const Packet& p) { return ipoib_private_data(p.get<CmRej>()); }
const std::uint8_t* at_rep(const Packet& p) { return private_data_of_rep(p).data(); }
const std::uint8_t* at_rej(const Packet& p) { return private_data_of_rej(p).data(); }

bool is_rep(const Packet& p, const Known& known) { return known.connection && p.get<CmRep>(); }
bool is_req(const Packet& p, const Known& known) { return known.connection && p.get<CmReq>(); }

/// A REJ of a REP comes from the side that has sent the REQ.
bool is_from_requester(const Packet& p, const Known& known) {
    const auto rej = p.get<CmRej>();
    return p.lrh[Lrh::slid] == known.connection->requester_lid &&
           rej[CmRej::remote_comm_id] != known.connection->requester_id;
}
/// A packet over a connection that was seen to be set up, and not to end.
bool is_over_known(const Packet& p, const Known& known) {
    const auto* connection = known.connection;
    return !p.deth && connection && connection->replied && !connection->ended;
}
bool goes_to_responder(const Packet& p, const Known& known) {
    return p.lrh[Lrh::dlid] == known.connection->responder_lid && p.bth[Bth::dest_qp] == known.connection->responder_rc;
}
/// What the receiver of a packet, or its sender, has said that it takes.
std::uint32_t mtu_of_receiver(const Packet& p, const Known& known) {
    return goes_to_responder(p, known) ? known.connection->responder_mtu : known.connection->requester_mtu;
}
std::uint32_t mtu_of_sender(const Packet& p, const Known& known) {
    return goes_to_responder(p, known) ? known.connection->requester_mtu : known.connection->responder_mtu;
}
std::size_t largest_ip(const Packet& p, const Known& known) {
    return std::max(default_message, mtu_of_receiver(p, known)) - Encap::size;
}
/// Another connection may have got the queue pair since.
state::Span since_connected(const Packet& p, const Known& known) {
    state::Span span{.since = known.connection->replied};
    span.senders = {{{{p.lrh[Lrh::slid], 1}, span.since}, {{p.lrh[Lrh::dlid], 1}, span.since}}};
    return span;
}
constexpr Parts over_connection = over_ib | parts(Part::lrh, Part::connected);
constexpr Parts located_cm_message = parts(Part::lrh, Part::mad);

/// The queue pair of the connection is the UD queue pair that the sender has announced.
bool is_ud_queue_pair(std::uint32_t of_connection, const Known& known) {
    return known.owner && known.owner->is_announced && known.owner->qpn == of_connection;
}

/// The queue pair at whose Service-ID the connection was asked for.
std::uint32_t owner_of(std::uint64_t service_id) { return static_cast<std::uint32_t>(service_id & 0xffffff); }
/// A UD queue pair, and that of the interface which was asked. A port may have more interfaces than the capture shows,
/// so only one that is known to own the Service-ID can be held to its QPN.
bool is_own_qpn(std::uint32_t qpn, std::uint32_t of_connection, const Known& known) {
    const auto owner = owner_of(known.connection->service_id);
    // Of the one that was asked it is the connection's queue pair that is wrong.
    if (!is_port_qpn(qpn) || (qpn == of_connection && qpn != owner)) return false;
    // It may have given that one back since.
    return !known.owner || !known.owner->is_announced || known.owner->is_doubtful || qpn == owner;
}

bool is_of_interface(const state::QueuePair* one) { return one && one->is_announced && !one->is_doubtful; }
bool is_earlier(const state::Sight& one, const state::Sight& other) { return one.order < other.order; }

bool is_message(const Packet& p) {
    const auto opcode = p.bth[Bth::opcode];
    return opcode == Opcode::rc_send_only || opcode == Opcode::uc_send_only;
}

constexpr Rule rules_of_context_connections[] = {
    {.id = "RULE-RFC4755-3.2-02-rep",
     .checks = {&rfc4755::cm_setup_carries_ud_qpn, &rfc4755::cm_private_data_format},
     .title = "the private data of a REP has the sender's UD QPN",
     .needs = parts(Part::lrh, Part::mad),
     .evidence = Evidence::contradiction,
     .applies = is_rep,
     .holds =
         [](const Packet& p, const Known& known) {
             return is_own_qpn(private_data_of_rep(p)[CmPrivateData::ud_qpn], p.get<CmRep>()[CmRep::local_qpn], known);
         },
     .points_at = CmPrivateData::ud_qpn,
     .expected = "the QPN of the sender's link-layer address",
     .at = at_rep},
    {.id = "RULE-RFC4755-6-02-rep",
     .checks = {&rfc4755::cm_private_data_reserved_tx},
     .title = "the Reserved octet in the private data of a REP is 0",
     .needs = parts(Part::lrh, Part::mad),
     .evidence = Evidence::one_frame,
     .applies = is_rep,
     .holds = [](const Packet& p) { return private_data_of_rep(p)[CmPrivateData::reserved] == 0; },
     .points_at = CmPrivateData::reserved,
     .expected = "0",
     .at = at_rep},
    {.id = "RULE-RFC4755-5-01-rep",
     .checks = {&rfc4755::cm_minimum_mtu},
     .title = "the Receive MTU of a REP is that of a link that IP can use",
     .needs = parts(Part::lrh, Part::mad),
     .evidence = Evidence::one_frame,
     .applies = is_rep,
     .holds = [](const Packet& p) { return private_data_of_rep(p)[CmPrivateData::receive_mtu] >= least_of_ipv4; },
     .points_at = CmPrivateData::receive_mtu,
     .expected = "at least 72, for the 68 octets of IPv4",
     .at = at_rep},
    {.id = "RULE-RFC4755-3.2-03",
     .checks = {&rfc4755::cm_reject_carries_ud_qpn},
     .title = "the private data of a REJ has the sender's UD QPN",
     .needs = parts(Part::lrh, Part::mad),
     .evidence = Evidence::contradiction,
     .applies =
         [](const Packet& p, const Known& known) {
             const auto rej = p.get<CmRej>();
             return known.connection && rej && rej[CmRej::reason] != invalid_service_id;
         },
     .holds =
         [](const Packet& p, const Known& known) {
             const auto qpn = private_data_of_rej(p)[CmPrivateData::ud_qpn];
             if (is_from_requester(p, known)) return is_port_qpn(qpn) && qpn == known.connection->requester_qpn;
             return is_own_qpn(qpn, 0, known);
         },
     .points_at = CmPrivateData::ud_qpn,
     .expected = "the QPN of the sender's link-layer address",
     .at = at_rej},
    {.id = "RULE-RFC4755-3.2-02-own",
     .checks = {&rfc4755::cm_setup_carries_ud_qpn, &rfc4755::cm_private_data_format},
     .title = "the private data of a REQ name another queue pair than the connection's",
     .needs = located_cm_message,
     .evidence = Evidence::nothing_between,
     .over =
         [](const Packet&, const Known& known) {
             const auto& sender = *known.sender;
             state::Span span{.since = sender.first_ipoib};
             span.senders[0] = {{sender.lid, sender.qpns[sender.qpn_count - 1u]}, sender.first_ipoib};
             return span;
         },
     // One that has announced others, and was never seen to use this one for datagrams.
     .applies =
         [](const Packet& p, const Known& known) {
             const bool is_datagrams = known.owner && (known.owner->is_announced || known.owner->first);
             return is_req(p, known) && known.sender && known.sender->qpn_count != 0 && !is_datagrams;
         },
     .holds =
         [](const Packet& p) {
             const auto req = p.get<CmReq>();
             return ipoib_private_data(req)[CmPrivateData::ud_qpn] != req[CmReq::local_qpn];
         },
     .points_at = CmPrivateData::ud_qpn,
     .expected = "a UD queue pair, so not that of the connection",
     .at = [](const Packet& p) { return ipoib_private_data(p.get<CmReq>()).data(); }},
    {.id = "RULE-RFC4755-2.2-01-req",
     .checks = {&rfc4755::cm_queue_pairs},
     .title = "a REQ names a queue pair of its own for the connection",
     .needs = located_cm_message,
     .evidence = Evidence::contradiction,
     .applies = is_req,
     .holds = [](const Packet& p,
                 const Known& known) { return !is_ud_queue_pair(p.get<CmReq>()[CmReq::local_qpn], known); },
     .points_at = CmReq::local_qpn,
     .expected = "another queue pair than that of UD, which was announced"},
    {.id = "RULE-RFC4755-2.2-01-rep",
     .checks = {&rfc4755::cm_queue_pairs},
     .title = "a REP names a queue pair of its own for the connection",
     .needs = located_cm_message,
     .evidence = Evidence::contradiction,
     .applies = is_rep,
     .holds = [](const Packet& p,
                 const Known& known) { return !is_ud_queue_pair(p.get<CmRep>()[CmRep::local_qpn], known); },
     .points_at = CmRep::local_qpn,
     .expected = "another queue pair than that of UD, which was announced"},
    {.id = "RULE-RFC4755-3.5-01-former",
     .checks = {&rfc4755::cm_service_id},
     .title = "a REQ asks at the queue pair that the receiver has announced last",
     .needs = located_cm_message,
     .evidence = Evidence::nothing_between,
     .over =
         [](const Packet&, const Known& known) {
             state::Span span{.since = known.informed->at};
             const auto& asked = *known.destination;
             span.senders[0] = {{asked.lid, known.neighbour->announced_by}, known.neighbour->announced};
             return span;
         },
     .applies =
         [](const Packet& p, const Known& known) {
             return is_req(p, known) && known.neighbour && known.informed && !known.neighbour->alternates;
         },
     .holds = [](const Packet&, const Known& known) { return known.now.steady - known.informed->at.steady < grace; },
     .points_at = CmReq::service_id,
     .expected_of =
         [](const Packet&, const Known& known) {
             return "0x01, then " + hex(known.neighbour->qpn(), 14) + ", announced" +
                    in_frame(known.neighbour->renewed);
         }},
    {.id = "RULE-RFC4755-3.3-01",
     .checks = {&rfc4755::cm_crossing_requests},
     .title = "of two REQs that cross, the side with the larger link-layer address does not accept the other's",
     .needs = located_cm_message,
     .evidence = Evidence::nothing_between,
     // Its own may have been answered, or given up, since.
     .over =
         [](const Packet& p, const Known& known) {
             state::Span span{.since = known.crossing->requested};
             // Sent after the other one was captured, its own may also be sent after that was received; and once it
             // is accepted it is open no more.
             if (known.crossing->replied || known.crossing->requested.order > known.connection->requested.order)
                 span.doubts.add({Doubt::capture_order, "the two requests may have crossed in another order"});
             span.senders = {{{{p.lrh[Lrh::slid], 1}, span.since}, {{p.lrh[Lrh::dlid], 1}, span.since}}};
             return span;
         },
     // The flags octet counts as zero, so the QPN comes first; of GIDs alone nothing is said.
     .applies =
         [](const Packet& p, const Known& known) {
             return is_rep(p, known) && known.crossing &&
                    known.crossing->requester_qpn != known.connection->requester_qpn;
         },
     .holds = [](const Packet&,
                 const Known& known) { return known.crossing->requester_qpn < known.connection->requester_qpn; },
     .points_at = CmRep::remote_comm_id,
     .expected = "a REJ with Consumer Reject, since its own REQ was open and its UD QPN is the larger"},
    {.id = "RULE-RFC4755-6-01-rep",
     .checks = {&rfc4755::cm_private_data_format},
     .title = "the Receive MTU of a REP is a possible one",
     .needs = located_cm_message,
     .evidence = Evidence::one_frame,
     .applies = is_rep,
     .holds = [](const Packet& p) { return can_be_receive_mtu(private_data_of_rep(p)[CmPrivateData::receive_mtu]); },
     .points_at = CmPrivateData::receive_mtu,
     .expected = "1 to 2147483648, the largest message of a connection",
     .at = at_rep},
    {.id = "RULE-RFC4755-5-01-ipv6",
     .checks = {&rfc4755::cm_minimum_mtu},
     .title = "who uses IPv6 over a connection takes 1280 octets of it there",
     .needs = over_connection | parts(Part::ipv6),
     .evidence = Evidence::nothing_between,
     .over = since_connected,
     .applies = [](const Packet& p,
                   const Known& known) { return is_over_known(p, known) && mtu_of_sender(p, known) != 0; },
     .holds = [](const Packet& p, const Known& known) { return mtu_of_sender(p, known) >= least_of_ipv6; },
     .points_at = Encap::type,
     .expected = "a Receive MTU of 1284 or more in the sender's REQ or REP",
     .actual_of = [](const Packet& p,
                     const Known& known) { return "Receive MTU " + std::to_string(mtu_of_sender(p, known)); }},
    {.id = "RULE-RFC4755-5-02",
     .checks = {&rfc4755::cm_default_mtu},
     .title = "a packet over a connection is no larger than 2044 octets, or than its receiver has said to take",
     .needs = over_connection,
     .evidence = Evidence::nothing_between,
     .over = since_connected,
     .applies = [](const Packet& p,
                   const Known& known) { return is_over_known(p, known) && mtu_of_receiver(p, known) != 0; },
     .holds = [](const Packet& p, const Known& known) { return p.ip_length() <= largest_ip(p, known); },
     .notes = [](const Packet& p) { return p.ip_length() + Encap::size > default_message; },
     .note = "IP packets of more than 2044 octets over a connection",
     .points_at = Encap::type,
     .expected_of = [](const Packet& p,
                       const Known& known) { return "at most " + std::to_string(largest_ip(p, known)) + " octets"; },
     .actual_of = [](const Packet& p, const Known&) { return std::to_string(p.ip_length()) + " octets"; }},
    {.id = "RULE-RFC4392-4.1-01-connection",
     .checks = {&rfc4392::one_pkey_per_subnet},
     .title = "packets over a connection have the P_Key that it was asked for with",
     .needs = over_connection,
     .evidence = Evidence::nothing_between,
     .over = since_connected,
     .applies = is_over_known,
     .holds = [](const Packet& p,
                 const Known& known) { return is_same_partition(p.bth[Bth::p_key], known.connection->p_key); },
     .points_at = Bth::p_key,
     .expected_of = [](const Packet&,
                       const Known& known) { return hex(known.connection->p_key, 4) + ", as in the REQ"; }},
    {.id = "RULE-RFC4391-6-01-connection",
     .checks = {&rfc4391::encap_header, &rfc4755::cm_encap_type},
     .title = "a 4-octet encapsulation header stands before the datagram over a connection",
     .needs = parts(Part::lrh, Part::bth),
     .evidence = Evidence::nothing_between,
     .over = since_connected,
     .applies = [](const Packet& p, const Known& known) { return is_over_known(p, known) && is_message(p); },
     .holds = [](const Packet& p) { return p.is_ipoib() || !is_misplaced_ip(p); },
     .points_at = Encap::type,
     .expected = "4 octets, then an IP packet",
     .actual_of = [](const Packet& p, const Known&) { return "none there: " + hex_octets(p.payload, 12); },
     .at = [](const Packet& p) { return p.payload.data(); }},
    {.id = "RULE-RFC4391-6-01-interface",
     .checks = {&rfc4391::encap_header},
     .title = "a 4-octet encapsulation header stands before what goes to an interface's queue pair",
     .needs = parts(Part::lrh, Part::bth, Part::deth),
     .evidence = Evidence::nothing_between,
     .knows = facts(Fact::q_key),
     // Another program may have got the queue pair since.
     .over =
         [](const Packet&, const Known& known) {
             const auto& to = *known.destination;
             state::Span span{.since = to.announced};
             span.senders[0] = {{to.lid, to.qpn}, to.announced};
             return span;
         },
     .applies =
         [](const Packet& p, const Known& known) {
             return !p.is_ipoib() && !p.mad && known.destination && known.destination->is_announced &&
                    p.deth[Deth::q_key] == known.broadcast->q_key && is_misplaced_ip(p);
         },
     .holds = [](const Packet&) { return false; },
     .points_at = Encap::type,
     .expected = "4 octets, then an IP, ARP or RARP packet",
     .actual_of = [](const Packet& p, const Known&) { return "none there: " + hex_octets(p.payload, 12); },
     .at = [](const Packet& p) { return p.payload.data(); }},
    {.id = "RULE-RFC4391-6-04-device",
     .checks = {&rfc4391::encap_type},
     .title = "Type is a Type, and what else it names is not IP or ARP, between interfaces",
     .needs = parts(Part::lrh, Part::bth, Part::deth),
     .evidence = Evidence::nothing_between,
     .knows = facts(Fact::q_key),
     // Another program may have got one of the queue pairs since.
     .over =
         [](const Packet&, const Known& known) {
             const auto &from = *known.source, &to = *known.destination;
             state::Span span{.since = std::max(from.announced, to.announced, is_earlier)};
             span.senders = {{{{from.lid, from.qpn}, from.announced}, {{to.lid, to.qpn}, to.announced}}};
             return span;
         },
     .applies =
         [](const Packet& p, const Known& known) {
             return !p.is_ipoib() && !p.mad && View<Encap>::at(p.payload) && is_of_interface(known.source) &&
                    is_of_interface(known.destination) && p.deth[Deth::q_key] == known.broadcast->q_key &&
                    !is_misplaced_ip(p);
         },
     .holds =
         [](const Packet& p) {
             const auto type = View<Encap>::at(p.payload)[Encap::type];
             return can_be_type(type, p.payload.subspan(Encap::size), p.payload_length - Encap::size);
         },
     .points_at = Encap::type,
     .expected = "0x0600 or more, and the datagram's own",
     .actual_of = [](const Packet& p, const Known&) { return hex_octets(p.payload, Encap::size); },
     .at = [](const Packet& p) { return p.payload.data(); }},
    {.id = "RULE-RFC4755-3.1-06",
     .checks = {&rfc4755::ud_only_sends_no_flags},
     .title = "a port that takes no connections announces none",
     .needs = over_ib | parts(Part::lrh, Part::arp_addresses),
     .evidence = Evidence::nothing_between,
     .knows = facts(Fact::sender),
     // Each time it may have been set to connected mode, or from it, in between.
     .over =
         [](const Packet&, const Known& known) {
             return state::Span{.since = known.source->announced,
                                .doubts = state::Reason{Doubt::host_setting,
                                                        "the mode of the interface may have been set in between"}};
         },
     .applies =
         [](const Packet& p, const Known& known) {
             return known.source && known.source->denies_flags &&
                    p.arp_addresses[ArpAddresses::sha_qpn] == known.source->qpn;
         },
     .holds = [](const Packet& p) { return p.arp_addresses[ArpAddresses::sha_flags] == 0; },
     .points_at = ArpAddresses::sha_flags,
     .expected = "0, since it has rejected connections to this queue pair as of no service, before and after it "
                 "announced them"},
};
static_assert(are_declared(rules_of_context_connections));

}  // namespace

std::span<const Rule> context_connections() { return rules_of_context_connections; }

}  // namespace ipoib::rules
