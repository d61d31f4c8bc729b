// SPDX-License-Identifier: GPL-2.0-or-later
// RFC 4391, 7: the link MTU.
#include "protocol/requirements/catalogue.hpp"
#include "protocol/rules/common.hpp"

#include <algorithm>

namespace ipoib::rules {
namespace {

/// Of the default link: 2048 octets of payload less the encapsulation header.
constexpr std::size_t default_mtu = 2044;

constexpr Rule rules_of_rfc4391_07[] = {
    {.id = "RULE-RFC4391-7-04",
     .checks = {&rfc4391::default_mtu_2044},
     .title = "datagrams of 2044 octets are sent",
     .needs = over_ib | parts(Part::lrh, Part::deth),
     .evidence = Evidence::one_frame,
     .applies =
         [](const Packet& p) { return p.ip_length() == default_mtu && p.payload_length == Encap::size + default_mtu; },
     .notes = [](const Packet&) { return true; },
     .note = "datagrams that fill the default MTU",
     .points_at = Lrh::packet_length},
    {.id = "RULE-RFC4391-7-05",
     .checks = {&rfc4391::frame_within_link_mtu},
     .title = "no datagram is larger than the link MTU",
     .needs = over_ib | parts(Part::lrh, Part::deth),
     .evidence = Evidence::nothing_between,
     .knows = facts(Fact::mtu),
     .over =
         [](const Packet& p, const Known& known) {
             const auto fits = [&](const state::ToldRecord& one) {
                 return p.payload_length <= mtu_octets(one.parameters.mtu);
             };
             return since_told(known, known.told_records && std::ranges::any_of(*known.told_records, fits));
         },
     .applies = [](const Packet&, const Known& known) { return mtu_octets(known.broadcast->mtu) != 0; },
     .holds = [](const Packet& p, const Known& known) { return p.payload_length <= mtu_octets(known.broadcast->mtu); },
     .points_at = Lrh::packet_length,
     .expected_of =
         [](const Packet&, const Known& known) {
             return "at most " + std::to_string(mtu_octets(known.broadcast->mtu)) +
                    " octets of payload, the 4-octet header among them";
         },
     .actual_of =
         [](const Packet& p, const Known&) {
             return std::to_string(p.lrh[Lrh::packet_length]) + " words, with " + std::to_string(p.payload_length) +
                    " octets of payload";
         }},
};
static_assert(are_declared(rules_of_rfc4391_07));

}  // namespace

std::span<const Rule> rfc4391_07() { return rules_of_rfc4391_07; }

}  // namespace ipoib::rules
