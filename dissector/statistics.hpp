// SPDX-License-Identifier: GPL-2.0-or-later
// Statistics > RFC 4391, and -z rfc4391,tree.
#pragma once

#include "dissector/frame.hpp"

namespace ipoib::dissector {

void register_statistics();
/// Counts the frame at hand, if anybody listens.
void count_frame(packet_info* pinfo);

}  // namespace ipoib::dissector
