// SPDX-License-Identifier: GPL-2.0-or-later
// The mutations of the generator, put into a capture one at a time.
#pragma once

#include "conformance/recall/world.hpp"

namespace ipoib::recall {

/// At every place of a source where a mutation can be: one packet, a question with its answer, or, where one of them
/// alone breaks nothing, all of the capture. Mutations are made for the packets of a profile: where the source is of
/// `profile`, all of that are taken; of others, what the packet alone proves.
[[nodiscard]] std::vector<Violation> mutations_in(const Source& source, std::string_view profile = {});

}  // namespace ipoib::recall
