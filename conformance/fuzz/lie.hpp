// SPDX-License-Identifier: GPL-2.0-or-later
// What is wrong with a frame: fields by the rows of the wire tables, and its octets. Lengths, checksums, CRCs and PSNs
// are right but for the lie.
#pragma once

#include "protocol/build/packet_builder.hpp"

#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ipoib::conformance::fuzz {

using Random = std::mt19937_64;

/// "Encap.Reserved=0x1", as `ipoib-gen --set` has it, where the packet has the header; or one of
/// "cut=N": the last N octets of the payload are not there; "tail=N": so many more are;
/// "octet=OFFSET:XOR": of the whole frame, once it is built; "icrc=XOR", "vcrc=XOR"; "lost=1": the frame does not
/// arrive. Throws std::invalid_argument with what is wrong.
void check_lie(std::string_view lie);

/// The frame with these lies, LRH to VCRC. A lie about a header that it has not is none.
[[nodiscard]] std::vector<std::uint8_t> build_with(build::PacketBuilder packet, std::span<const std::string> lies);

/// Whether the frame is not to arrive.
[[nodiscard]] bool loses(std::span<const std::string> lies);

/// A lie about a packet like this one.
[[nodiscard]] std::string random_lie(const build::PacketBuilder& packet, Random& random);

}  // namespace ipoib::conformance::fuzz
