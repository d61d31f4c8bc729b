// SPDX-License-Identifier: GPL-2.0-or-later
// An IP packet that stands where no encapsulation header of RFC 4391 leads to.
#pragma once

#include "protocol/wire/packet.hpp"

namespace ipoib::wire {

/// Whether a payload is beyond doubt an IP packet behind no header, behind one of two octets that names it, or behind
/// one of Ethernet's length: its own length is just what is left, in IPv4 its checksum is right. RFC 4391, 6.
[[nodiscard]] bool is_misplaced_ip(const Packet& packet);

}  // namespace ipoib::wire
