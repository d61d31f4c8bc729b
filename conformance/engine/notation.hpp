// SPDX-License-Identifier: GPL-2.0-or-later
// A packet in one line, for people: what failures, logs and evidence say of frames.
#pragma once

#include "protocol/wire/packet.hpp"

#include <string>

namespace ipoib::conformance {

/// "ARP reply 10.1.0.9 to 10.1.0.1", "UDP 10.1.0.9 to 239.1.2.3 port 5000 over ff12:401b:ffff::f01:203", "SubnAdm Set
/// MCMemberRecord ff12:401b:ffff::ffff:ffff JoinState 1".
[[nodiscard]] std::string in_one_line(const wire::Packet& packet);

}  // namespace ipoib::conformance
