// SPDX-License-Identifier: GPL-2.0-or-later
// RFC 4391, 7: the link MTU.
#include "protocol/requirements/catalogue.hpp"
#include "protocol/rules/common.hpp"

namespace ipoib::rules {
namespace {

constexpr Rule rules[] = {
    {.id = "RULE-RFC4391-7-05",
     .checks = {&rfc4391::frame_within_link_mtu},
     .title = "no datagram is larger than the link MTU",
     .needs = over_ib | parts(Part::lrh, Part::deth),
     .of_link = Needs::broadcast_group,
     .applies = [](const Packet&, const Link& link) { return mtu_octets(link.broadcast->mtu) != 0; },
     .holds = [](const Packet& p, const Link& link) { return p.payload_length <= mtu_octets(link.broadcast->mtu); },
     .points_at = Lrh::packet_length,
     .expected_of =
         [](const Packet&, const Link& link) {
             return "at most " + std::to_string(mtu_octets(link.broadcast->mtu)) + " octets with the 4-octet header";
         },
     .actual_of = [](const Packet& p, const Link&) { return std::to_string(p.payload_length) + " octets"; }},
};

}  // namespace

std::span<const Rule> rfc4391_07() { return rules; }

}  // namespace ipoib::rules
