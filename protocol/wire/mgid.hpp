// SPDX-License-Identifier: GPL-2.0-or-later
// Multicast GIDs of IPoIB and the mapping of IP groups to them, both ways. RFC 4391, 4.
#pragma once

#include "protocol/wire/field.hpp"

namespace ipoib::wire {

inline constexpr std::uint16_t ipv4_signature = 0x401b, ipv6_signature = 0x601b;
/// The subnet prefix of ports that no subnet manager has given another. IBTA Vol 1, 4.1.1.
inline constexpr std::uint64_t default_subnet_prefix = std::uint64_t{0xfe80} << 48;
/// The full-membership bit of a P_Key. IBTA Vol 1, 10.9.1.2.
inline constexpr std::uint16_t full_membership = 0x8000;
/// Whether two P_Keys are equal but for the membership bit. IBTA Vol 1, 10.9.1.2.
constexpr bool is_same_partition(std::uint16_t a, std::uint16_t b) noexcept {
    return (a | full_membership) == (b | full_membership);
}
/// Whether a port with this P_Key is a full member of its partition, not a limited one. IBTA Vol 1, 10.9.1.2.
constexpr std::uint16_t limited_p_key(std::uint16_t p_key) noexcept {
    return static_cast<std::uint16_t>(p_key & ~full_membership);
}
constexpr bool is_full_member(std::uint16_t p_key) noexcept { return (p_key & full_membership) != 0; }

/// A multicast GID as IPoIB divides it. RFC 4391, 4, figure 1.
struct Mgid {
    static constexpr std::string_view key = "mgid", name = "MGID", title = "IPoIB multicast GID";
    static constexpr std::size_t size = 16;
    static constexpr std::array<Named, 4> scope_names{
        {{2, "link-local"}, {5, "site-local"}, {8, "organization-local"}, {14, "global"}}};
    static constexpr std::array<Named, 2> signature_names{{{ipv4_signature, "IPv4"}, {ipv6_signature, "IPv6"}}};
    template <class T>
    using F = Field<Mgid, T>;

    static constexpr F<std::uint8_t> prefix{"Prefix", octet(0), 8, Show::hex, "FF: multicast"};
    static constexpr F<std::uint8_t> reserved{"FlagsReserved", octet(1), 3, Show::reserved, "Zero. IBTA Vol 1, 4.1.1"};
    static constexpr F<bool> transient{"T", octet(1, 3), 1, Show::flag, "Not permanently assigned: 1 on IPoIB"};
    static constexpr F<std::uint8_t> scope{"Scope",    octet(1, 4), 4, Show::hex, "That of the broadcast-GID",
                                           scope_names};
    static constexpr F<std::uint16_t> signature{"Signature", octet(2), 16, Show::hex, "", signature_names};
    static constexpr F<std::uint16_t> p_key{"P_Key", octet(4), 16, Show::hex, "Of the link, full-membership bit set"};
    static constexpr F<std::uint16_t> group_high{"GroupHigh", octet(6), 16, Show::hex, "Upper 16 of 80 group ID bits"};
    static constexpr F<std::uint64_t> group_low{"GroupLow", octet(8), 64, Show::hex, "Lower 64 of 80 group ID bits"};
    static constexpr auto fields = table(prefix, reserved, transient, scope, signature, p_key, group_high, group_low);
};
static_assert(tiles(Mgid::fields, Mgid::size));

/// The MGID as IPoIB divides it; a copy, for GIDs that come out of a field.
constexpr Bytes<Mgid> mgid_of(const Gid& gid) noexcept { return {gid.octets}; }

/// Whether no MGID may have the scope. RFC 4392, 1.2.1.2.
constexpr bool is_reserved_scope(unsigned scope) noexcept { return scope == 0 || scope == 0xf; }
/// Whether the scope has a meaning. RFC 4392, 1.2.1.2.
constexpr bool is_assigned_scope(unsigned scope) noexcept { return !name_of(Mgid::scope_names, scope).empty(); }

namespace detail {
constexpr Gid mgid(std::uint16_t signature, std::uint16_t p_key, unsigned scope, std::uint16_t high,
                   std::uint64_t low) noexcept {
    const auto upper = std::uint64_t{0xff10u | (scope & 0xfu)} << 48 | std::uint64_t{signature} << 32 |
                       std::uint64_t{p_key} << 16 | std::uint64_t{full_membership} << 16 | high;
    return Gid::of(upper, low);
}
}  // namespace detail

/// The broadcast-GID of the link with this P_Key and scope. RFC 4391, 4, figure 2.
constexpr Gid broadcast_gid(std::uint16_t p_key, unsigned scope) noexcept {
    return detail::mgid(ipv4_signature, p_key, scope, 0, 0xffffffff);
}
/// The MGID of an IPv4 group (host byte order); 255.255.255.255 gives the broadcast-GID.
constexpr Gid mgid_for_ipv4(std::uint32_t group, std::uint16_t p_key, unsigned scope) noexcept {
    if (group == 0xffffffff) return broadcast_gid(p_key, scope);
    return detail::mgid(ipv4_signature, p_key, scope, 0, group & 0x0fffffff);
}
/// The MGID of an IPv6 group: its low 80 bits.
constexpr Gid mgid_for_ipv6(const Gid& group, std::uint16_t p_key, unsigned scope) noexcept {
    return detail::mgid(ipv6_signature, p_key, scope, static_cast<std::uint16_t>(group.prefix()), group.interface_id());
}

/// The group in which an IPv6 address is solicited: ff02::1:ffXX:XXXX. RFC 4291, 2.7.1.
constexpr Gid solicited_node_group(const Gid& address) noexcept {
    return Gid::of(std::uint64_t{0xff02} << 48, std::uint64_t{0x1ff000000} | (address.interface_id() & 0xffffff));
}

/// Whether the group ID is that of the broadcast-GID and the signature is that of IPv4, whatever scope and P_Key.
constexpr bool is_broadcast_gid(const Gid& gid) noexcept {
    // The group ID, of 80 bits, first: of few GIDs it is that.
    constexpr std::uint64_t everybody = 0xffffffff, high_bits_of_group = 0xffff;
    return gid.interface_id() == everybody && (gid.prefix() & high_bits_of_group) == 0 && gid.is_multicast() &&
           mgid_of(gid)[Mgid::signature] == ipv4_signature;
}
/// Whether the MGID carries one of the two signatures of IPoIB.
constexpr bool has_ipoib_signature(const Gid& gid) noexcept {
    const auto signature = mgid_of(gid)[Mgid::signature];
    return gid.is_multicast() && (signature == ipv4_signature || signature == ipv6_signature);
}

/// Whether it is one of the two signatures in the wrong byte order. RFC 4391, 4: an MGID is in network byte order.
constexpr bool is_swapped_signature(std::uint16_t signature) noexcept {
    return swapped(signature) == ipv4_signature || swapped(signature) == ipv6_signature;
}

/// The IPv4 group that an MGID stands for, if it stands for one (the broadcast-GID gives 255.255.255.255).
constexpr std::optional<std::uint32_t> ipv4_group_of(const Gid& gid) noexcept {
    const auto mgid = mgid_of(gid);
    if (!gid.is_multicast() || mgid[Mgid::signature] != ipv4_signature || mgid[Mgid::group_high] != 0) return {};
    const auto low = mgid[Mgid::group_low];
    if (low == 0xffffffff) return 0xffffffff;
    if (low >> 28) return {};
    return static_cast<std::uint32_t>(0xe0000000 | low);
}

/// Whether the P_Key field lacks the membership bit, as in draft-ietf-ipoib-link-multicast-02.
constexpr bool has_draft_p_key(const Gid& gid) noexcept {
    return has_ipoib_signature(gid) && !is_full_member(mgid_of(gid)[Mgid::p_key]);
}
/// Whether this is the broadcast group of its own that draft-ietf-ipoib-link-multicast-02 and -03 gave to IPv6. In
/// RFC 4391 the same MGID is that of the all-nodes groups (ff0s::1).
constexpr bool is_draft_ipv6_broadcast(const Gid& gid) noexcept {
    const auto mgid = mgid_of(gid);
    return gid.is_multicast() && mgid[Mgid::signature] == ipv6_signature && mgid[Mgid::group_high] == 0 &&
           mgid[Mgid::group_low] == 1;
}

}  // namespace ipoib::wire
