// SPDX-License-Identifier: GPL-2.0-or-later
// Nodes and links that tests, samples and examples share.
#pragma once

#include "protocol/build/ipoib.hpp"

namespace ipoib::build::samples {

constexpr std::uint64_t default_prefix = std::uint64_t{0xfe80} << 48;

/// Host `n` (from 1): LID n, a GUID and the link-local address made of it, 10.1.0.n.
inline Node host(std::uint16_t n) {
    const auto guid = std::uint64_t{0x0002c90300100000} + n;
    constexpr auto u_bit = std::uint64_t{0x02} << 56;
    return {.lid = n,
            .gid = wire::Gid::of(default_prefix, guid),
            .qpn = 0x40u + n,
            .ipv4 = 0x0a010000u + n,
            .ipv6 = wire::Gid::of(default_prefix, guid ^ u_bit)};
}

/// The port that the subnet administrator answers from.
inline Node sa() { return {.lid = 100, .gid = wire::Gid::of(default_prefix, 0x0002c90300ffff01), .qpn = 1}; }

/// A link whose every parameter differs from zero and from the usual default: mistakes show.
inline Link controlled() {
    return {
        .p_key = 0x8123, .q_key = 0x80000b1b, .sl = 3, .traffic_class = 0x20, .hop_limit = 1, .flow_label = 0x12345};
}

/// The SA's answer to a FullMember join of the broadcast group.
inline PacketBuilder broadcast_join_answer(const Node& member, const Link& link) {
    return mc_member(sa(), member, wire::Method::get_resp, 1, broadcast_record(member, link), 0x10083);
}

}  // namespace ipoib::build::samples
