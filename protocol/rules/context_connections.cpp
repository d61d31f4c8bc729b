// SPDX-License-Identifier: GPL-2.0-or-later
// Answers of communication management to IPoIB's requests for a connection. RFC 4755, 3 and 6.
#include "protocol/requirements/catalogue.hpp"
#include "protocol/rules/common.hpp"
#include "protocol/wire/cm.hpp"

namespace ipoib::rules {
namespace {

/// The channel adapter's own "nobody listens", of an implementation without connected mode.
constexpr std::uint16_t invalid_service_id = 8;

View<CmPrivateData> private_data_of_rep(const Packet& p) { return ipoib_private_data(p.get<CmRep>()); }
View<CmPrivateData> private_data_of_rej(const Packet& p) { return ipoib_private_data(p.get<CmRej>()); }
const std::uint8_t* at_rep(const Packet& p) { return private_data_of_rep(p).data(); }
const std::uint8_t* at_rej(const Packet& p) { return private_data_of_rej(p).data(); }

bool is_rep(const Packet& p, const Known& known) { return known.connection && p.get<CmRep>(); }

/// The queue pair at whose Service-ID the connection was asked for.
std::uint32_t owner_of(std::uint64_t service_id) { return static_cast<std::uint32_t>(service_id & 0xffffff); }
/// A UD queue pair, and that of the interface which was asked. A port may have more interfaces than the capture shows,
/// so only one that is known to own the Service-ID can be held to its QPN.
bool is_own_qpn(std::uint32_t qpn, std::uint32_t of_connection, const Known& known) {
    if (!is_port_qpn(qpn) || qpn == of_connection) return false;
    const auto owner = owner_of(known.connection->service_id);
    return !known.owner || !known.owner->is_announced || qpn == owner;
}

constexpr Rule rules[] = {
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
     .holds = [](const Packet& p, const Known&) { return private_data_of_rep(p)[CmPrivateData::reserved] == 0; },
     .points_at = CmPrivateData::reserved,
     .expected = "0",
     .at = at_rep},
    {.id = "RULE-RFC4755-5-01-rep",
     .checks = {&rfc4755::cm_minimum_mtu},
     .title = "the Receive MTU of a REP is that of a link that IP can use",
     .needs = parts(Part::lrh, Part::mad),
     .evidence = Evidence::one_frame,
     .applies = is_rep,
     .holds = [](const Packet& p, const Known&) { return private_data_of_rep(p)[CmPrivateData::receive_mtu] != 0; },
     .points_at = CmPrivateData::receive_mtu,
     .expected = "not 0",
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
     .holds = [](const Packet& p,
                 const Known& known) { return is_own_qpn(private_data_of_rej(p)[CmPrivateData::ud_qpn], 0, known); },
     .points_at = CmPrivateData::ud_qpn,
     .expected = "the QPN of the sender's link-layer address",
     .at = at_rej},
    {.id = "RULE-RFC4755-3.1-06",
     .checks = {&rfc4755::ud_only_sends_no_flags},
     .title = "a port that takes no connections announces none",
     .needs = over_ib | parts(Part::lrh, Part::arp_addresses),
     .evidence = Evidence::nothing_between,
     .knows = facts(Fact::sender),
     // Each time it may have been set to connected mode, or from it, in between.
     .over =
         [](const Packet&, const Known& known) {
             return state::Span{.since = known.source->announced, .is_beyond_capture = true};
         },
     .applies =
         [](const Packet& p, const Known& known) {
             return known.source && known.source->denies_flags &&
                    p.arp_addresses[ArpAddresses::sha_qpn] == known.source->qpn;
         },
     .holds = [](const Packet& p, const Known&) { return p.arp_addresses[ArpAddresses::sha_flags] == 0; },
     .points_at = ArpAddresses::sha_flags,
     .expected = "0, since it has rejected connections to this queue pair as of no service, before and after it "
                 "announced them"},
};
static_assert(are_declared(rules));

}  // namespace

std::span<const Rule> context_connections() { return rules; }

}  // namespace ipoib::rules
