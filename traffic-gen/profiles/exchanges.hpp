// SPDX-License-Identifier: GPL-2.0-or-later
// What several profiles ask the subnet administrator beside joins, and its answers.
#pragma once

#include "traffic-gen/profile.hpp"

namespace ipoib::traffic {

/// A host wants to be told when groups come and go: traps 66 and 67 of all groups. RFC 4391, 10.
void subscribe(Stage& stage, const build::Node& host);
/// All hosts join the broadcast groups of all links, and subscribe, as hosts do that will send to groups.
void bring_up_senders(Stage& stage);

}  // namespace ipoib::traffic
