// SPDX-License-Identifier: GPL-2.0-or-later
// What the user says, told to what a judge knows of a subnet.
#pragma once

#include "conformance/assumptions/statement.hpp"
#include "protocol/state/subnet.hpp"

namespace ipoib::assumptions {

/// Before the first frame. What two statements say of one group is taken from the one that goes before: --assume.
void apply(const Statement& statement, state::Subnet& subnet);

}  // namespace ipoib::assumptions
