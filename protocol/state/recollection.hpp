// SPDX-License-Identifier: GPL-2.0-or-later
// What was found around one packet, for those that follow it and differ only in what nobody looks at.
#pragma once

#include "protocol/state/known.hpp"

namespace ipoib::state {

/// Programs with sanitizers do not rely on what is kept, but learn anew each time and compare.
#ifdef IPOIB_DISTRUSTS_MEMORY
inline constexpr bool distrusts_memory = true;
#else
inline constexpr bool distrusts_memory = false;
#endif

/// Of packets of one shape (inspection/shapes.hpp). It holds as long as nothing has changed in the subnet but times and
/// counts; what those packets still do is to be counted, and to be seen later than the one before.
struct Recollection {
    /// Of the subnet, when it was filled in. No other subnet has it, nor the same one once something has changed. 0:
    /// nothing is kept.
    std::uint64_t version = 0;
    bool was_recalled = false;  ///< the last packet of this shape was taken by it

    Known known;  ///< but for the time, and for what the packet answers
    PortIndex sender = none, subject = none;
    std::uint32_t on_link = none;  ///< the sender's part in the broadcast group of its link, where that is certain
    GroupIndex group = none;
    std::uint32_t member = none;
    QueuePair* source = nullptr;
    bool is_sender_certain = false, is_link_certain = false;
    bool renews_q_key = false;  ///< of its link
    bool is_echo = false;       ///< a request or a reply
    bool may_answer = false;    ///< so that what is known is not only this
    friend bool operator==(const Recollection&, const Recollection&) = default;
};

}  // namespace ipoib::state
