// SPDX-License-Identifier: GPL-2.0-or-later
// What `verify` needs beside the journals of a run.
#pragma once

#include "conformance/command/target_options.hpp"
#include "conformance/interop/interop.hpp"
#include "conformance/replay/verify.hpp"

namespace ipoib::conformance {

/// Writes session.json into the folder of the run's evidence, where one was asked for. What fails is an ERROR among the
/// results.
void keep_record(const Aim& aim, const Rig& rig, reports::Results& results);

/// The same of two that met; nothing where the run keeps no evidence.
void keep_meeting(const interop::InteropRun& run, bool is_virtual, fabric::Abilities abilities,
                  reports::Results& results);

/// What this build adds to results: revisions of rules and cases, and what proves the judge; and a hash of these, of
/// all titles and of the catalogue.
[[nodiscard]] replay::SuiteTexts suite_texts();

/// Throws Fault where no bundle can be written there. An empty path asks for none.
void try_bundle(const std::string& path);
/// Writes the bundle of this folder, if one is asked for; tells on standard error what fails, and is false then.
[[nodiscard]] bool keep_bundle(const std::string& path, const std::string& evidence, const reports::Results& results);

}  // namespace ipoib::conformance
