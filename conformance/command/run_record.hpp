// SPDX-License-Identifier: GPL-2.0-or-later
// What `verify` needs beside the journals of a run.
#pragma once

#include "conformance/command/target_options.hpp"

namespace ipoib::conformance {

/// Writes session.json into the folder of the run's evidence, where one was asked for. What fails is an ERROR among the
/// results.
void keep_record(const Aim& aim, const Rig& rig, reports::Results& results);

}  // namespace ipoib::conformance
