// SPDX-License-Identifier: GPL-2.0-or-later
// Unicast packets against what ARP, ND and the SA have told before. RFC 4391, 3 and 9.1.
#include "protocol/requirements/catalogue.hpp"
#include "protocol/rules/common.hpp"

#include <algorithm>

namespace ipoib::rules {
namespace {

constexpr Parts unicast = over_ib | parts(Part::lrh, Part::deth);

bool is_unicast(const Packet& p) { return !p.is_multicast && !is_multicast_lid(p.lrh[Lrh::dlid]); }

/// The address was announced for one port only, and the sender has come up since: it can have no older one.
bool has_fresh_address(const Packet& p, const Known& known) {
    return is_unicast(p) && !known.neighbour->is_shared && known.neighbour->gid != Gid{};
}
bool goes_to_announced_qpn(const Packet& p, const Known& known) { return known.neighbour->has(p.bth[Bth::dest_qp]); }
/// It was announced, or is one that the receiver sends from: another mistake than not to resolve.
bool goes_to_port(const Packet& p, const Known& known) {
    const auto* port = known.target;
    return goes_to_announced_qpn(p, known) ||
           (port && std::any_of(port->qps.begin(), port->qps.begin() + port->qp_count,
                                [&](const auto& use) { return use.qpn == p.bth[Bth::dest_qp]; }));
}
std::string announced_qpns(const Packet&, const Known& known) {
    const auto& neighbour = *known.neighbour;
    return hex(neighbour.qpns[neighbour.qpn_count - 1u], 6) + ", which the receiver has announced";
}

bool is_ip(const Packet& p) { return carries(p, EtherType::ipv4) || carries(p, EtherType::ipv6); }

constexpr Facts of_address = facts(Fact::watched, Fact::neighbour);

constexpr Rule rules[] = {
    {.id = "RULE-RFC4391-3-01",
     .checks = {&rfc4391::ud_same_partition_and_qkey},
     .title = "an answer is given only to a packet with the link's Q_Key",
     .needs = over_ib | parts(Part::deth),
     .knows = facts(Fact::q_key),
     .applies = [](const Packet&, const Known& known) { return known.answers != nullptr; },
     .holds = [](const Packet&, const Known& known) { return !known.answers->has_wrong_key; },
     .expected = "no answer",
     .actual_of =
         [](const Packet&, const Known& known) {
             return "an answer to frame " + std::to_string(known.answers->sent.frame) + ", which has another Q_Key";
         }},
    {.id = "RULE-RFC4391-9.1.1-04-ipv4",
     .checks = {&rfc4391::ip_to_advertised_qpn},
     .title = "IPv4 goes to the QPN that ARP has told",
     .needs = unicast | parts(Part::ipv4),
     .knows = of_address,
     .applies = has_fresh_address,
     .holds = goes_to_announced_qpn,
     .points_at = Bth::dest_qp,
     .expected_of = announced_qpns},
    {.id = "RULE-RFC4391-9.1.1-04-ipv6",
     .checks = {&rfc4391::ip_to_advertised_qpn},
     .title = "IPv6 goes to the QPN that Neighbour Discovery has told",
     .needs = unicast | parts(Part::ipv6),
     .knows = of_address,
     .applies = has_fresh_address,
     .holds = goes_to_announced_qpn,
     .points_at = Bth::dest_qp,
     .expected_of = announced_qpns},
    {.id = "RULE-RFC4391-9-01",
     .checks = {&rfc4391::ipv4_resolved_by_arp},
     .title = "an IPv4 neighbour's address is one that ARP can have told",
     .needs = unicast | parts(Part::ipv4),
     .knows = of_address,
     .applies = has_fresh_address,
     .holds = goes_to_port,
     .points_at = Bth::dest_qp,
     .expected_of = announced_qpns},
    {.id = "RULE-RFC4391-9-02",
     .checks = {&rfc4391::ipv6_resolved_by_nd},
     .title = "an IPv6 neighbour's address is one that Neighbour Discovery can have told",
     .needs = unicast | parts(Part::ipv6),
     .knows = of_address,
     .applies = has_fresh_address,
     .holds = goes_to_port,
     .points_at = Bth::dest_qp,
     .expected_of = announced_qpns},
    {.id = "RULE-RFC4391-9.1.1-05",
     .checks = {&rfc4391::arp_reply_to_advertised_qpn},
     .title = "an ARP reply goes to the QPN that the request announced",
     .needs = unicast | parts(Part::arp_addresses),
     .knows = facts(Fact::neighbour),
     // It answers what was just asked, so nothing older can be meant.
     .applies =
         [](const Packet& p, const Known& known) {
             return p.arp[Arp::operation] == Arp::reply && known.answers && has_fresh_address(p, known);
         },
     .holds = goes_to_announced_qpn,
     .points_at = Bth::dest_qp,
     .expected_of = announced_qpns},
    {.id = "RULE-RFC4391-9.1-01",
     .checks = {&rfc4391::lrh_targets_peer_lid},
     .title = "the DLID is that of the port that the receiver's address names",
     .needs = unicast,
     .knows = facts(Fact::watched, Fact::neighbour, Fact::receiver),
     // A port may have several LIDs, and get another: only a LID that is known to be another port's is wrong.
     .applies =
         [](const Packet& p, const Known& known) {
             return has_fresh_address(p, known) && known.target && known.target->lid != 0 &&
                    (known.target == known.receiver || !known.receiver->gid.is_zero());
         },
     .holds = [](const Packet&, const Known& known) { return known.target == known.receiver; },
     .points_at = Lrh::dlid,
     .expected_of =
         [](const Packet&, const Known& known) {
             return hex(known.target->lid, 4) + ", the LID of " + text(known.target->gid);
         }},
    {.id = "RULE-RFC4391-9.1-02",
     .checks = {&rfc4391::grh_across_subnets},
     .title = "a packet to another IB subnet has a GRH with the receiver's GID",
     .needs = unicast,
     .knows = of_address,
     .applies =
         [](const Packet& p, const Known& known) {
             return has_fresh_address(p, known) && !known.sender->gid.is_zero() &&
                    known.neighbour->gid.prefix() != known.sender->gid.prefix();
         },
     .holds = [](const Packet& p, const Known& known) { return p.grh && p.grh[Grh::dgid] == known.neighbour->gid; },
     .points_at = Grh::dgid,
     .expected_of = [](const Packet&, const Known& known) { return text(known.neighbour->gid); }},
    {.id = "RULE-RFC4391-9.1.1-07",
     .checks = {&rfc4391::link_address_gid},
     .title = "the GID of the sender's link-layer address is one of its port's",
     .needs = over_ib | parts(Part::lrh, Part::arp_addresses),
     .knows = facts(Fact::sender),
     .applies = [](const Packet&,
                   const Known& known) { return known.named && known.named->lid != 0 && !known.sender->gid.is_zero(); },
     // A port may have more GIDs than frames have shown; one that is another port's it cannot have.
     .holds = [](const Packet&, const Known& known) { return known.named == known.sender; },
     .points_at = ArpAddresses::sha_gid,
     .expected_of = [](const Packet&, const Known& known) { return text(known.sender->gid) + ", the sender's"; }},
    {.id = "RULE-RFC4391-9.1.2-01",
     .checks = {&rfc4391::lid_by_iba_methods},
     .title = "the DLID is the one that the SA told the sender for the receiver's GID",
     .needs = unicast,
     .knows = facts(Fact::path),
     .applies = [](const Packet& p, const Known&) { return is_unicast(p); },
     .holds =
         [](const Packet& p, const Known& known) {
             return p.lrh[Lrh::dlid] == known.path->dlid || p.lrh[Lrh::dlid] == known.path->former_dlid;
         },
     .points_at = Lrh::dlid,
     .expected_of =
         [](const Packet&, const Known& known) {
             return hex(known.path->dlid, 4) + ", as in frame " + std::to_string(known.path->told.frame);
         }},
    {.id = "RULE-RFC4391-9.1.2-05",
     .checks = {&rfc4391::sl_by_iba_methods},
     .title = "the SL is the one that the SA told the sender for the path",
     .needs = unicast,
     .knows = facts(Fact::path),
     .applies = [](const Packet& p, const Known&) { return is_unicast(p); },
     .holds =
         [](const Packet& p, const Known& known) {
             return p.lrh[Lrh::sl] == known.path->sl || p.lrh[Lrh::sl] == known.path->former_sl;
         },
     .points_at = Lrh::sl,
     .expected_of =
         [](const Packet&, const Known& known) {
             return std::to_string(known.path->sl) + ", as in frame " + std::to_string(known.path->told.frame);
         }},
    {.id = "RULE-RFC4391-9.1-06",
     .checks = {&rfc4391::path_rate_before_data, &rfc4391::path_rate_by_iba_methods},
     .title = "the rate of the path was told before data goes over it",
     .needs = unicast,
     .knows = facts(Fact::path),
     .applies = [](const Packet& p, const Known&) { return is_unicast(p) && is_ip(p); },
     .holds = [](const Packet&, const Known& known) { return known.path->rate != 0; },
     .expected = "a rate in the PathRecord",
     .actual_of = [](const Packet&, const Known&) { return std::string("none"); }},
    {.id = "RULE-RFC4392-4.1-01",
     .checks = {&rfc4392::one_pkey_per_subnet},
     .title = "a queue pair sends with one P_Key",
     .needs = over_ib | parts(Part::lrh, Part::deth),
     .knows = facts(Fact::sender),
     .applies =
         [](const Packet& p, const Known& known) {
             return std::any_of(known.sender->qps.begin(), known.sender->qps.begin() + known.sender->qp_count,
                                [&](const auto& use) { return use.qpn == p.deth[Deth::src_qp]; });
         },
     .holds =
         [](const Packet& p, const Known& known) {
             return std::none_of(
                 known.sender->qps.begin(), known.sender->qps.begin() + known.sender->qp_count, [&](const auto& use) {
                     return use.qpn == p.deth[Deth::src_qp] && !is_same_partition(use.p_key, p.bth[Bth::p_key]);
                 });
         },
     .points_at = Bth::p_key,
     .expected = "the P_Key that this queue pair was first seen with"},
};

}  // namespace

std::span<const Rule> context_unicast() { return rules; }

}  // namespace ipoib::rules
