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
bool is_qpn(std::uint32_t qpn) { return qpn > 1 && qpn != Bth::multicast_qp; }
/// It is what the sender has announced, where that is known.
bool is_own_qpn(std::uint32_t qpn, const Known& known) {
    return is_qpn(qpn) && (!known.sender || known.sender->qpn_count == 0 || known.sender->announces(qpn));
}

constexpr Rule rules[] = {
    {.id = "RULE-RFC4755-3.2-02-rep",
     .checks = {&rfc4755::cm_setup_carries_ud_qpn, &rfc4755::cm_private_data_format},
     .title = "the private data of a REP has the sender's UD QPN",
     .needs = parts(Part::lrh, Part::mad),
     .applies = is_rep,
     .holds = [](const Packet& p,
                 const Known& known) { return is_own_qpn(private_data_of_rep(p)[CmPrivateData::ud_qpn], known); },
     .points_at = CmPrivateData::ud_qpn,
     .expected = "the QPN of the sender's link-layer address",
     .at = at_rep},
    {.id = "RULE-RFC4755-6-02-rep",
     .checks = {&rfc4755::cm_private_data_reserved_tx},
     .title = "the Reserved octet in the private data of a REP is 0",
     .needs = parts(Part::lrh, Part::mad),
     .applies = is_rep,
     .holds = [](const Packet& p, const Known&) { return private_data_of_rep(p)[CmPrivateData::reserved] == 0; },
     .points_at = CmPrivateData::reserved,
     .expected = "0",
     .at = at_rep},
    {.id = "RULE-RFC4755-3.2-03",
     .checks = {&rfc4755::cm_reject_carries_ud_qpn},
     .title = "the private data of a REJ has the sender's UD QPN",
     .needs = parts(Part::lrh, Part::mad),
     .applies =
         [](const Packet& p, const Known& known) {
             const auto rej = p.get<CmRej>();
             return known.connection && rej && rej[CmRej::reason] != invalid_service_id;
         },
     .holds = [](const Packet& p,
                 const Known& known) { return is_own_qpn(private_data_of_rej(p)[CmPrivateData::ud_qpn], known); },
     .points_at = CmPrivateData::ud_qpn,
     .expected = "the QPN of the sender's link-layer address",
     .at = at_rej},
    {.id = "RULE-RFC4755-3.1-06",
     .checks = {&rfc4755::ud_only_sends_no_flags},
     .title = "a port that takes no connections announces none",
     .needs = over_ib | parts(Part::lrh, Part::arp_addresses),
     .knows = facts(Fact::sender),
     .applies = [](const Packet&, const Known& known) { return known.sender->rejects_connections; },
     .holds = [](const Packet& p, const Known&) { return p.arp_addresses[ArpAddresses::sha_flags] == 0; },
     .points_at = ArpAddresses::sha_flags,
     .expected = "0, since it has rejected a connection as of no service"},
};

}  // namespace

std::span<const Rule> context_connections() { return rules; }

}  // namespace ipoib::rules
