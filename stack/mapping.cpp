// SPDX-License-Identifier: GPL-2.0-or-later
// From IP groups to MGIDs.
#include "stack/mapping.hpp"

namespace ipoib::stack {
using namespace wire;

namespace {
constexpr std::uint64_t link_local_group = std::uint64_t{0xff02} << 48;
}

Gid mgid_for(const Policy& policy, const Link& link, const IpAddress& group) noexcept {
    if (group.is_limited_broadcast()) return policy.limited_broadcast(link);
    const auto id = group.is_v4() ? policy.ipv4_group_id(group.v4()) : policy.ipv6_group_id(group.octets);
    const auto flags = policy.mgid_flags(group);
    Bytes<Mgid> mgid;
    mgid.set(Mgid::prefix, 0xff)
        .set(Mgid::reserved, static_cast<std::uint8_t>(flags >> 1))
        .set(Mgid::transient, (flags & 1) != 0)
        .set(Mgid::scope, policy.mgid_scope(link, group))
        .set(Mgid::signature, group.is_v4() ? policy.ipv4_signature : policy.ipv6_signature)
        .set(Mgid::p_key, policy.mgid_p_key(link))
        .set(Mgid::group_high, id.high)
        .set(Mgid::group_low, id.low);
    return {mgid.octets};
}

IpAddress all_routers(bool is_v4) noexcept {
    return is_v4 ? IpAddress::v4(0xe0000002) : IpAddress::v6(Gid::of(link_local_group, 2));
}

IpAddress all_nodes(bool is_v4) noexcept {
    return is_v4 ? IpAddress::v4(0xe0000001) : IpAddress::v6(Gid::of(link_local_group, 1));
}

bool is_interface_local(const IpAddress& group) noexcept {
    return !group.is_v4() && group.octets.is_multicast() && (group.octets.octets[1] & 0x0f) <= 1;
}

}  // namespace ipoib::stack
