// SPDX-License-Identifier: GPL-2.0-or-later
// Frames of a capture as the mutations of the traffic generator make them.
#pragma once

#include "conformance/metamorphic/trace.hpp"
#include "traffic-gen/mutation.hpp"

namespace ipoib::metamorphic {

/// Decodes a frame; false where it cannot be built again to be the same but for a change.
bool can_be_built_again(const Frame& frame, wire::Packet& packet);
/// Such a packet as a mutation makes it; empty where that is not about it.
[[nodiscard]] std::vector<std::uint8_t> mutated(const traffic::Mutation& mutation, const wire::Packet& packet);

}  // namespace ipoib::metamorphic
