// SPDX-License-Identifier: GPL-2.0-or-later
// What the plugin adds to the tree of a packet, to the columns, and to the expert infos.
#pragma once

#include "dissector/frame.hpp"

namespace ipoib::dissector {

/// The item of our protocol for the frame at hand, made when it is needed first: `offset` and `length` are the octets
/// that it stands for.
proto_tree* own_tree(proto_tree* tree, int offset = 0, int length = 0);

/// After all other dissectors: link, group, exchange, split addresses, expert infos. Adds nothing where there is
/// nothing.
void dissect_rfc4391(packet_info* pinfo, proto_tree* tree);

}  // namespace ipoib::dissector
