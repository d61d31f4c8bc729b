// SPDX-License-Identifier: GPL-2.0-or-later
// What a packet has brought about, for those who wait for something: a port must do one thing some time after another.
#pragma once

#include "protocol/state/entities.hpp"

namespace ipoib::state {

/// With a port, and a group where one is meant.
enum class EventKind : std::uint8_t {
    listens,             ///< IGMP or MLD: the port's IP has joined the group
    stops_listening,     ///< and left it
    asks_full,           ///< a join as FullMember is asked for
    asks_non_member,     ///< a join as NonMember is asked for
    asks_to_leave,       ///< a Delete
    first_sent,          ///< the first packet to a group that is not the broadcast group
    becomes_router,      ///< has listed the groups, joined one as NonMember, and spoken as a router
    told_of_group,       ///< a router learns of a group, from a table or from trap 66
    subscribes,          ///< has asked to be told of both traps, 66 and 67, for all groups or those it sends to
    subscribes_created,  ///< of trap 66 for all groups
};

struct Event {
    EventKind kind{};
    PortIndex port = none;
    GroupIndex group = none;
    const Link* link = nullptr;
    bool is_watched = false;  ///< as Fact::watched, for the port
    Sight at;
};

}  // namespace ipoib::state
