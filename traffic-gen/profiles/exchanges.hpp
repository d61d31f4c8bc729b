// SPDX-License-Identifier: GPL-2.0-or-later
// What several profiles ask the subnet administrator beside joins, and its answers.
#pragma once

#include "traffic-gen/profile.hpp"

namespace ipoib::traffic {

/// A host wants to be told when groups come and go: traps 66 and 67 of all groups. RFC 4391, 10.
void subscribe(Stage& stage, const build::Node& host);
/// All hosts join the broadcast groups of all links, and subscribe, as hosts do that will send to groups.
void bring_up_senders(Stage& stage);

/// Both in captures only; on a fabric it is known already.
/// A host asks for the record of a group, and hears that there is none.
void look_in_vain(Stage& stage, const build::Node& host, const build::Link& link, const wire::Gid& mgid);
/// A host asks for the path to another one: its LID, SL and rate. RFC 4391, 9.1.2.
void ask_for_path(Stage& stage, const build::Node& host, const build::Node& to, const build::Link& link);

}  // namespace ipoib::traffic
