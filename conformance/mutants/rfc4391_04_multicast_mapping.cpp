// SPDX-License-Identifier: GPL-2.0-or-later
// Wrong MGIDs. RFC 4391, 4.
#include "conformance/mutants/prelude.hpp"

namespace ipoib::conformance {

const Mutant maps_32_bits{
    .name = "maps-32-bits",
    .what = "maps all 32 bits of an IPv4 group, as FreeBSD does",
    .breaks = {&rfc4391::mgid_ipv4_padding, &rfc4391::joiner_maps_address},
    .stack =
        [](Policy& policy) { policy.ipv4_group_id = [](std::uint32_t group) {
                                 return stack::GroupId{0, group};
                             }; },
    .spares = {"IPOIB-4391-4-VAL-002"},
};

const Mutant mgid_not_transient{
    .name = "mgid-not-transient",
    .what = "T flag 0 in MGIDs",
    .breaks = {&rfc4391::mgid_t_flag, &rfc4391::joiner_maps_address},
    .stack = [](Policy& policy) { policy.mgid_flags = [](const IpAddress&) { return std::uint8_t{0}; }; },
    // Its solicitations have no group to go to.
    .sometimes = {&rfc4391::ipv6_resolved_by_nd},
    .twin = Twin{.spares = Spared{"IPOIB-4391-4-VAL-001"}},
};

const Mutant mgid_limited_p_key{
    .name = "mgid-limited-pkey",
    .what = "P_Key without membership bit in MGIDs, as in the first draft",
    .breaks = {&rfc4391::mgid_pkey, &rfc4391::joiner_maps_address},
    .stack =
        [](Policy& policy) {
            policy.mgid_p_key = [](const Link& link) { return static_cast<std::uint16_t>(link.p_key & 0x7fff); };
        },
    .sometimes = {&rfc4391::ipv6_resolved_by_nd},
    .twin = Twin{.spares = Spared{"IPOIB-4391-4-VAL-001"}},
};

const Mutant mgid_p_key_little_endian{
    .name = "mgid-pkey-little-endian",
    .what = "P_Key in MGIDs in the order of the host",
    .breaks = {&rfc4391::mgid_pkey, &rfc4391::joiner_maps_address},
    .stack =
        [](Policy& policy) {
            policy.mgid_p_key = [](const Link& link) {
                return static_cast<std::uint16_t>(link.p_key << 8 | link.p_key >> 8);
            };
        },
    .scenario = "controlled",
    .sometimes = {&rfc4391::ipv6_resolved_by_nd},
    .twin = Twin{.spares = Spared{"IPOIB-4391-4-VAL-001"}},
};

const Mutant mgid_scope_of_ip{
    .name = "mgid-scope-of-ip",
    .what = "takes the scope of an IPv6 group into its MGID",
    .breaks = {&rfc4391::mgid_format, &rfc4391::mgid_scope_of_broadcast_gid, &rfc4391::joiner_maps_address,
               &rfc4392::record_scope},
    .stack =
        [](Policy& policy) {
            policy.mgid_scope = [](const Link& link, const IpAddress& group) {
                return group.is_v4() ? link.scope : static_cast<std::uint8_t>(group.octets.octets[1] & 0xf);
            };
        },
    .spares = {"IPOIB-4391-4-VAL-001"},
};

const Mutant mgid_scope_always_two{
    .name = "mgid-scope-always-2",
    .what = "always uses scope 2",
    .breaks = {&rfc4391::mgid_format, &rfc4391::mgid_scope_of_broadcast_gid, &rfc4391::joiner_maps_address,
               &rfc4392::record_scope},
    .stack = [](Policy& policy) { policy.mgid_scope = [](const Link&, const IpAddress&) { return std::uint8_t{2}; }; },
    .scenario = "scope5",
    .sometimes = {&rfc4391::ipv6_resolved_by_nd},
    .twin = Twin{.spares = Spared{"IPOIB-4391-4-VAL-001"}},
};

const Mutant mgid_ipv4_signature_wrong{
    .name = "ipv4-signature-wrong",
    .what = "uses the signature of IPv6 for IPv4 groups",
    .breaks = {&rfc4391::mgid_ipv4_signature, &rfc4391::joiner_maps_address},
    .stack = [](Policy& policy) { policy.ipv4_signature = ipv6_signature; },
    // All-hosts then has the MGID of all-nodes.
    .sometimes = {&rfc4391::receiver_full_member_join, &rfc4392::receiver_joins},
    .spares = {"IPOIB-4391-4-VAL-002"},
};

const Mutant mgid_ipv6_64_bits{
    .name = "ipv6-group-64-bits",
    .what = "takes only 64 bits of an IPv6 group",
    .breaks = {&rfc4391::mgid_ipv6_group_id, &rfc4391::joiner_maps_address},
    .stack =
        [](Policy& policy) {
            policy.ipv6_group_id = [](const Gid& group) { return stack::GroupId{0, group.interface_id()}; };
        },
    .spares = {"IPOIB-4391-4-VAL-001"},
};

const Mutant limited_broadcast_to_a_group{
    .name = "limited-broadcast-mapped",
    .what = "maps 255.255.255.255 like a group",
    .breaks = {&rfc4391::limited_broadcast_mapping},
    .stack =
        [](Policy& policy) {
            policy.limited_broadcast = [](const Link& link) {
                return mgid_for_ipv4(0xefffffff, link.p_key, link.scope);
            };
        },
};

const Mutant maps_23_bits{
    .name = "maps-23-bits",
    .what = "maps 23 bits of an IPv4 group, as on Ethernet",
    .breaks = {&rfc4391::mgid_ipv4_group_id, &rfc4391::joiner_maps_address},
    .stack =
        [](Policy& policy) {
            policy.ipv4_group_id = [](std::uint32_t group) { return stack::GroupId{0, group & 0x7fffff}; };
        },
    .spares = {"IPOIB-4391-4-VAL-002"},
};

const Mutant broadcast_gid_of_ipv6{
    .name = "broadcast-gid-601b",
    .what = "searches for a broadcast-GID with the signature of IPv6",
    .breaks = {&rfc4391::broadcast_gid_format, &rfc4391::broadcast_full_member_join},
    .stack =
        [](Policy& policy) {
            policy.broadcast_gid = [](std::uint16_t p_key, unsigned scope) {
                return Gid{Bytes<Mgid>{broadcast_gid(p_key, scope).octets}.set(Mgid::signature, ipv6_signature).octets};
            };
        },
    .spares = {"IPOIB-4391-5-INV-002", "IPOIB-4391-5-VAL-007", "IPOIB-4391-5-INV-006"},
};

const Mutant mgid_ipv6_signature_wrong{
    .name = "ipv6-signature-wrong",
    .what = "uses the signature of IPv4 for IPv6 groups",
    .breaks = {&rfc4391::mgid_ipv6_signature, &rfc4391::joiner_maps_address},
    .stack = [](Policy& policy) { policy.ipv6_signature = ipv4_signature; },
    // All-nodes then has the MGID of all-hosts, and solicitations have no group to go to.
    .sometimes = {&rfc4391::mgid_ipv4_padding, &rfc4391::receiver_full_member_join, &rfc4392::receiver_joins,
                  &rfc4391::ipv6_resolved_by_nd},
    .spares = {"IPOIB-4391-4-VAL-001"},
};

const Mutant mgid_flags_of_ip{
    .name = "mgid-flags-of-ip",
    .what = "takes the flags of an IPv6 group into its MGID",
    .breaks = {&rfc4391::mgid_t_flag, &rfc4391::joiner_maps_address},
    .stack =
        [](Policy& policy) {
            policy.mgid_flags = [](const IpAddress& group) {
                return static_cast<std::uint8_t>(group.is_v4() ? 1 : group.octets.octets[1] >> 4);
            };
        },
    // It finds neither the group of all IPv6 routers nor solicited nodes.
    .sometimes = {&rfc4391::fallback_to_routers, &rfc4392::missing_group_fallback, &rfc4391::ipv6_resolved_by_nd},
    .spares = {"IPOIB-4391-4-VAL-001"},
};

const Mutant mgid_t_flag_of_ip{
    .name = "mgid-t-flag-of-ip",
    .what = "clears the T flag in the MGID of a permanently assigned IPv6 group",
    .breaks = {&rfc4391::mgid_t_flag, &rfc4391::joiner_maps_address},
    .stack =
        [](Policy& policy) {
            policy.mgid_flags = [](const IpAddress& group) {
                return static_cast<std::uint8_t>(group.is_v4() ? 1 : group.octets.octets[1] >> 4 & 1);
            };
        },
    // It finds neither the group of all IPv6 routers nor solicited nodes.
    .sometimes = {&rfc4391::fallback_to_routers, &rfc4392::missing_group_fallback, &rfc4391::ipv6_resolved_by_nd},
    .spares = {"IPOIB-4391-4-VAL-001"},
};

}  // namespace ipoib::conformance
