// SPDX-License-Identifier: GPL-2.0-or-later
// Whether a receiver would take an IP packet for undamaged.
#pragma once

#include "protocol/wire/packet.hpp"

namespace ipoib::wire {

/// False if the checksum of the IPv4 header, or of the UDP, TCP, ICMP, ICMPv6 or IGMP message inside, is wrong: whoever
/// gets the packet drops it. A message that is not there as a whole (a fragment, a cut capture) has none that could be
/// judged, and UDP over IPv4 may do without (RFC 768). True of what is no IP.
[[nodiscard]] bool has_right_checksums(const Packet& packet) noexcept;

}  // namespace ipoib::wire
