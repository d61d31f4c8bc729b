// SPDX-License-Identifier: GPL-2.0-or-later
// The group that several lists in the tests describe.
#pragma once

#include "protocol/state/parameters.hpp"
#include "protocol/wire/mgid.hpp"

namespace ipoib::assumptions {

inline const state::GroupParameters controlled_group{.mgid = wire::broadcast_gid(0x8123, 2),
                                                     .q_key = 0x80000b1b,
                                                     .flow_label = 0x12345,
                                                     .mlid = 0xc001,
                                                     .p_key = 0x8123,
                                                     .mtu = 3,
                                                     .sl = 3,
                                                     .traffic_class = 0x20,
                                                     .rate = 6,
                                                     .lifetime = 18,
                                                     .scope = 2};

}  // namespace ipoib::assumptions
