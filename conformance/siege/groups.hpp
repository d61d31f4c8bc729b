// SPDX-License-Identifier: GPL-2.0-or-later
// The groups that histories are about, as far as their subnet has partitions for them, and records that are asked with.
#pragma once

#include "conformance/siege/subject.hpp"
#include "protocol/wire/inform_info.hpp"

namespace ipoib::conformance::siege {

/// Whether histories are about the broadcast groups, too. They last from one history to the next, and are others'.
enum class Broadcast : std::uint8_t { spared, included };

/// Which of group_names there are.
[[nodiscard]] std::vector<unsigned> groups_of(const sa_model::Facts& facts, Broadcast broadcast);

/// Adds them to the ground, with parameters like those of `facts.administrative`, whose first is the link's, and the
/// probes. Groups of one number were in no history of another. MGIDs that the SA chooses are zero while there is no
/// such group.
void add_groups(Ground& ground, std::uint32_t number, Broadcast broadcast);

/// InformInfo: from whatever port, traps of subnet management.
[[nodiscard]] wire::Bytes<wire::InformInfo> subscription(std::uint16_t trap, bool begins);

}  // namespace ipoib::conformance::siege
