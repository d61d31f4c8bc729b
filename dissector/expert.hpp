// SPDX-License-Identifier: GPL-2.0-or-later
// Rules that a packet breaks, as expert infos at the fields that show it.
#pragma once

#include "dissector/tree.hpp"

namespace ipoib::dissector {

/// Registers an expert info for each rule.
void register_expert_infos(int protocol);

/// Adds what the preferences let be shown. Null: nothing.
void add_expert_infos(packet_info* pinfo, proto_tree* tree, const ExpertInfo* first);

/// Adds why the capture is not judged whole, at the frame from which on it is not.
void add_trouble(packet_info* pinfo, proto_tree* tree);

/// Whether the preferences let it be shown.
bool is_shown(const ExpertInfo& info);

}  // namespace ipoib::dissector
