// SPDX-License-Identifier: GPL-2.0-or-later
// The groups that histories are about, as far as their subnet has partitions for them, and records that are asked with.
#pragma once

#include "conformance/siege/subject.hpp"
#include "protocol/wire/inform_info.hpp"

namespace ipoib::conformance::siege {

/// Whether histories are about the broadcast groups, too. They last from one history to the next, and are others'.
enum class Broadcast : std::uint8_t { spared, included };

/// The broadcast groups of the partitions, unless they are spared, three IP groups of the first partition, one of the
/// second, one of no IPoIB link, and two whose MGIDs the SA chooses: they are zero while there is no such group.
[[nodiscard]] unsigned group_count_of(const sa_model::Facts& facts, Broadcast broadcast) noexcept;

/// Appends them to the ground, with parameters like those of `facts.administrative`, whose first is the link's. Groups
/// of one number were in no history of another.
void add_groups(Ground& ground, std::uint32_t number, Broadcast broadcast);

/// InformInfo: from whatever port, traps of subnet management.
[[nodiscard]] wire::Bytes<wire::InformInfo> subscription(std::uint16_t trap, bool begins);

}  // namespace ipoib::conformance::siege
