// SPDX-License-Identifier: GPL-2.0-or-later
// Taking a management packet apart: its class' header and its attribute.
#pragma once

#include "protocol/wire/packet.hpp"

namespace ipoib::wire::detail {

/// Decodes a MAD that begins at `mad` into the packet. Nothing is noted where the class or attribute is not known.
void decode_management(Packet& packet, Octets mad) noexcept;

}  // namespace ipoib::wire::detail
