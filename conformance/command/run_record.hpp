// SPDX-License-Identifier: GPL-2.0-or-later
// What `verify` needs beside the journals of a run.
#pragma once

#include "conformance/command/target_options.hpp"

namespace ipoib::conformance {

/// Writes session.json into the folder of the run's evidence, where one was asked for. What fails is an ERROR among the
/// results.
void keep_record(const Aim& aim, const Rig& rig, reports::Results& results);

/// Throws Fault where no bundle can be written there. An empty path asks for none.
void try_bundle(const std::string& path);
/// Writes the bundle, if one is asked for; tells on standard error what fails, and is false then.
[[nodiscard]] bool keep_bundle(const std::string& path, const Aim& aim, const reports::Results& results);

}  // namespace ipoib::conformance
