// SPDX-License-Identifier: GPL-2.0-or-later
// Where frames come in: one way for each link type, and the payload of InfiniBand packets.
#pragma once

namespace ipoib::dissector {

/// For the handoff: takes over the link types and the payload. Wireshark's own dissectors go on being called.
void take_over_layers();

}  // namespace ipoib::dissector
