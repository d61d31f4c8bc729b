// SPDX-License-Identifier: GPL-2.0-or-later
// RFC 4391, 6: the encapsulation header and the headers before it.
#include "protocol/requirements/catalogue.hpp"
#include "protocol/rules/common.hpp"
#include "protocol/wire/misplaced.hpp"

namespace ipoib::rules {
namespace {

bool is_listed(EtherType type) {
    return type == EtherType::ipv4 || type == EtherType::arp || type == EtherType::rarp || type == EtherType::ipv6;
}

/// RARP has more operations than its own two: those of RFC 1931, and whatever comes.
bool may_be_reverse(const Packet& p) {
    return p.ether_type == EtherType::rarp && p.arp && p.arp[Arp::operation] > Arp::reply;
}

/// IP that begins where the header should: its first octets are no Type.
bool is_bare_ip(const Packet& p) { return p.encap && p.content == EtherType{} && is_misplaced_ip(p); }

/// Enough is captured to tell a header of two octets, which the drafts had, from this one.
bool shows_header(const Packet& p) {
    constexpr std::size_t shorter = 2;
    return !p.is_truncated || p.content != EtherType{} || p.payload.size() >= shorter + Arp::size;
}

constexpr Rule rules_of_rfc4391_06[] = {
    {.id = "RULE-RFC4391-6-01",
     .checks = {&rfc4391::encap_header},
     .title = "a 4-octet encapsulation header stands before the datagram",
     .needs = parts(Part::ipoib),
     .evidence = Evidence::one_frame,
     .applies =
         [](const Packet& p) {
             // A protocol of its own Type is outside of the document, and a cut datagram cannot be told.
             const bool is_shown = p.payload.size() > Encap::size + Arp::size;
             const bool is_named = (p.encap || p.foreign == Foreign::draft_2001_header) && is_listed(p.ether_type);
             return is_shown && (is_named || is_bare_ip(p));
         },
     .holds = [](const Packet& p) { return p.foreign != Foreign::draft_2001_header && p.content != EtherType{}; },
     .points_at = Encap::type,
     .expected = "4 octets, then an IP, ARP or RARP packet",
     .actual_of =
         [](const Packet& p, const Known&) {
             return p.foreign == Foreign::draft_2001_header ? std::string(name(p.foreign))
                                                            : "none there: " + hex_octets(p.payload, 12);
         }},
    {.id = "RULE-RFC4391-6-02",
     .checks = {&rfc4391::encap_reserved_tx},
     .title = "the encapsulation header's Reserved field is 0",
     .needs = parts(Part::ipoib, Part::encap),
     .evidence = Evidence::one_frame,
     .applies = [](const Packet& p) { return shows_header(p); },
     .holds = [](const Packet& p) { return p.encap[Encap::reserved] == 0; },
     .points_at = Encap::reserved,
     .expected = "0"},
    {.id = "RULE-RFC4391-6-04",
     .checks = {&rfc4391::encap_type},
     .title = "Type tells what the datagram is",
     .needs = parts(Part::ipoib, Part::encap),
     .evidence = Evidence::one_frame,
     .applies = [](const Packet& p) { return p.content != EtherType{}; },
     .holds = [](const Packet& p) { return p.ether_type == p.content || may_be_reverse(p); },
     .points_at = Encap::type,
     .expected_of = [](const Packet& p, const Known&) { return hex(static_cast<std::uint16_t>(p.content), 4); }},
    // At an interface nothing but IPoIB is seen, so a Type that cannot be one is the interface's.
    {.id = "RULE-RFC4391-6-04-interface",
     .checks = {&rfc4391::encap_type},
     .title = "Type is a Type, and what else it names is not IP or ARP",
     .needs = parts(Part::ipoib, Part::ether_type),
     .evidence = Evidence::one_frame,
     .applies = [](const Packet& p) { return !p.bth && (p.content == EtherType{} || !p.has(Part::encap)); },
     .holds =
         [](const Packet& p) {
             const auto head = p.encap ? Encap::size : 0;
             return can_be_type(p.ether_type, p.payload.subspan(head), p.payload_length - head);
         },
     .points_at = Encap::type,
     .expected = "0x0600 or more, and the datagram's own",
     .actual_of = [](const Packet& p, const Known&) { return hex(static_cast<std::uint16_t>(p.ether_type), 4); }},
    {.id = "RULE-RFC4391-6-07",
     .checks = {&rfc4391::grh_on_multicast},
     .title = "a multicast packet has a GRH",
     .needs = over_ib | parts(Part::lrh),
     .evidence = Evidence::one_frame,
     .applies = [](const Packet& p) { return p.is_multicast; },
     .holds = [](const Packet& p) { return static_cast<bool>(p.grh); },
     .points_at = Lrh::lnh,
     .expected = "3 (GRH follows)"},
    {.id = "RULE-RFC4391-6-08",
     .checks = {&rfc4391::grh_optional_on_unicast},
     .title = "a unicast packet within the subnet may have a GRH",
     .needs = over_ib | parts(Part::lrh),
     .evidence = Evidence::one_frame,
     .applies = [](const Packet& p) { return !p.is_multicast; },
     .notes = [](const Packet& p) { return static_cast<bool>(p.grh); },
     .note = "unicast packets with a GRH",
     .points_at = Lrh::lnh},
};
static_assert(are_declared(rules_of_rfc4391_06));

}  // namespace

std::span<const Rule> rfc4391_06() { return rules_of_rfc4391_06; }

}  // namespace ipoib::rules
