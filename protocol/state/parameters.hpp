// SPDX-License-Identifier: GPL-2.0-or-later
// A multicast group's parameters, as its MCMemberRecord states them. IBTA Vol 1, 15.2.5.17; RFC 4391, 4.1 and 5.
#pragma once

#include "protocol/wire/mc_member_record.hpp"
#include "protocol/wire/mtu.hpp"

namespace ipoib::state {

/// What all members of a group share.
struct GroupParameters {
    wire::Gid mgid{};
    std::uint32_t q_key = 0, flow_label = 0;
    std::uint16_t mlid = 0, p_key = 0;
    std::uint8_t mtu = 0;  ///< IB MTU code: 1 is 256 octets ... 5 is 4096
    std::uint8_t sl = 0, traffic_class = 0, hop_limit = 0;
    std::uint8_t rate = 0, lifetime = 0, scope = 0;
    friend bool operator==(const GroupParameters&, const GroupParameters&) = default;
};

/// What OpenSM gives a broadcast group that nobody has configured: a member that has these may have them by chance.
inline constexpr GroupParameters usual_broadcast_group{
    .q_key = 0x0b1b, .p_key = 0xffff, .mtu = 4, .rate = 3, .scope = 2};

/// Those in a record.
[[nodiscard]] GroupParameters parameters_of(wire::View<wire::McMemberRecord> record) noexcept;

using wire::mtu_octets;

}  // namespace ipoib::state
