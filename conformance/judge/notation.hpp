// SPDX-License-Identifier: GPL-2.0-or-later
// Packets for people: in one line, as failures, logs and evidence tell of frames, and field by field.
#pragma once

#include "protocol/inspection/inspector.hpp"
#include "protocol/wire/packet.hpp"

#include <string>

namespace ipoib::conformance {

/// "ARP reply 10.1.0.9 to 10.1.0.1", "UDP 10.1.0.9 to 239.1.2.3 port 5000 over ff12:401b:ffff::f01:203", "SubnAdm Set
/// MCMemberRecord ff12:401b:ffff::ffff:ffff JoinState 1".
[[nodiscard]] std::string in_one_line(const wire::Packet& packet);

/// "tester", "DUT", "SA"; "other" for whoever takes no part.
[[nodiscard]] std::string_view title_of(inspection::Party party) noexcept;

/// A header of the packet with its offset and all fields, a line for each; reserved bits only where they are set.
[[nodiscard]] std::string header_text(const wire::Packet& packet, const wire::HeaderSpec& header,
                                      const std::uint8_t* at);

}  // namespace ipoib::conformance
