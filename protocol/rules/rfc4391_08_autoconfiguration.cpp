// SPDX-License-Identifier: GPL-2.0-or-later
// RFC 4391, 8, as RFC 8064 updates it: interface identifiers and link-local addresses.
#include "protocol/requirements/catalogue.hpp"
#include "protocol/rules/common.hpp"

namespace ipoib::rules {
namespace {

constexpr std::uint64_t u_bit = std::uint64_t{0x02} << 56;

/// The sender's own address: in address detection it has none yet and asks for it.
Gid source(const Packet& p) {
    const auto address = p.ipv6[Ipv6::source];
    const bool is_detection =
        address.is_zero() && p.nd_target && p.icmpv6[Icmpv6::type] == Icmpv6Type::neighbour_solicitation;
    return is_detection ? p.nd_target[NdTarget::target] : address;
}
std::string source_text(const Packet& p, const Known&) { return text(source(p)); }
bool is_link_local(const Gid& address) { return address.prefix() >> 54 == 0xfe80 >> 6; }

/// The sender's port GUID where the packet itself tells it; 0 where it does not.
std::uint64_t guid_of_sender(const Packet& p) {
    if (p.grh) return p.grh[Grh::sgid].interface_id();
    if (p.source_option) return p.source_option[LinkAddressOption::gid].interface_id();
    if (p.target_option && p.icmpv6[Icmpv6::type] == Icmpv6Type::neighbour_advertisement)
        return p.target_option[LinkAddressOption::gid].interface_id();
    return 0;
}

bool is_judgeable(const Packet& p) { return is_link_local(source(p)) && guid_of_sender(p) != 0; }
bool is_from_guid(const Packet& p) { return ((source(p).interface_id() ^ guid_of_sender(p)) & ~u_bit) == 0; }
bool is_from_lid(const Packet& p) { return p.lrh && source(p).interface_id() == p.lrh[Lrh::slid]; }

constexpr Rule rules_of_rfc4391_08[] = {
    {.id = "RULE-RFC4391-8-01",
     .checks = {&rfc4391::iid_from_guid},
     .title = "an interface identifier may come from the port GUID",
     .needs = parts(Part::ipoib, Part::ipv6),
     .evidence = Evidence::one_frame,
     .applies = is_judgeable,
     .notes = [](const Packet& p) { return is_from_guid(p); },
     .note = "packets whose interface identifier comes from the port GUID",
     .points_at = Ipv6::source},
    {.id = "RULE-RFC4391-8-02",
     .checks = {&rfc4391::iid_from_lid},
     .title = "an interface identifier may come from a LID",
     .needs = over_ib | parts(Part::lrh, Part::ipv6),
     .evidence = Evidence::one_frame,
     .applies = is_judgeable,
     .notes = [](const Packet& p) { return is_from_lid(p); },
     .note = "packets whose interface identifier is the LID",
     .points_at = Ipv6::source},
    {.id = "RULE-RFC4391-8-03",
     .checks = {&rfc4391::link_local_from_guid},
     .title = "the link-local address is made of the port GUID, or opaque by RFC 8064",
     .needs = parts(Part::ipoib, Part::ipv6),
     .evidence = Evidence::one_frame,
     .applies = is_judgeable,
     .notes = [](const Packet& p) { return !is_from_guid(p); },
     .note = "packets whose link-local address is not made of the port GUID, as RFC 8064 prefers",
     .points_at = Ipv6::source},
    {.id = "RULE-RFC4391-8-06",
     .checks = {&rfc4391::iid_toggles_u_bit},
     .title = "the u bit is toggled where the GUID is an unmodified EUI-64",
     .needs = parts(Part::ipoib, Part::ipv6),
     .evidence = Evidence::one_frame,
     // With the u bit set the GUID may be a modified universal one or an unmodified local one: not decidable here.
     .applies = [](const Packet& p) { return is_judgeable(p) && is_from_guid(p) && (guid_of_sender(p) & u_bit) == 0; },
     .holds = [](const Packet& p) { return (source(p).interface_id() & u_bit) != 0; },
     .points_at = Ipv6::source,
     .expected_of =
         [](const Packet& p, const Known&) {
             return text(Gid::of(source(p).prefix(), guid_of_sender(p) ^ u_bit)) + " of this GUID";
         },
     .actual_of = source_text},
    {.id = "RULE-RFC4391-8.1-01",
     .checks = {&rfc4391::link_local_format},
     .title = "a link-local address is fe80::/64 and the interface identifier",
     .needs = parts(Part::ipoib, Part::ipv6),
     .evidence = Evidence::one_frame,
     .applies = [](const Packet& p) { return is_link_local(source(p)); },
     .holds = [](const Packet& p) { return source(p).prefix() == std::uint64_t{0xfe80} << 48; },
     .points_at = Ipv6::source,
     .expected = "fe80::/64",
     .actual_of = source_text},
};
static_assert(are_declared(rules_of_rfc4391_08));

}  // namespace

std::span<const Rule> rfc4391_08() { return rules_of_rfc4391_08; }

}  // namespace ipoib::rules
