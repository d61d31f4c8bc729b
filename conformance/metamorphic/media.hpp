// SPDX-License-Identifier: GPL-2.0-or-later
// InfiniBand packets as captures of other link types show them.
#pragma once

#include "conformance/metamorphic/source.hpp"

namespace ipoib::metamorphic {

/// Those that show an InfiniBand packet in another way.
[[nodiscard]] std::vector<wire::Medium> other_media();
/// The frame `index` of a source of InfiniBand packets; `octets` may be others than its own, of the same packet but for
/// a change. False, and the frame is as it was, where such a capture does not show it.
bool show_as(wire::Medium medium, const Source& source, std::size_t index, wire::Octets octets, Frame& frame,
             Store& store);

}  // namespace ipoib::metamorphic
