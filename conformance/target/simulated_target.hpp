// SPDX-License-Identifier: GPL-2.0-or-later
// What --fabric simulated, --scenario and --dut mutant: name. All throw std::invalid_argument for what there is not.
#pragma once

#include "conformance/bench/profile.hpp"
#include "conformance/mutants/mutant.hpp"
#include "conformance/target/fabrics/simulated.hpp"
#include "conformance/target/target.hpp"
#include "fabric/simulated/fabric.hpp"

#include <string>
#include <string_view>

namespace ipoib::conformance {

/// What --dut of an adapter in another process begins with, and of a mutant.
inline constexpr std::string_view exec_prefix = "exec:", mutant_prefix = "mutant:";

/// The mutant whose name follows the prefix; null where another choice was made.
[[nodiscard]] const Mutant* mutant_named(std::string_view choice, std::string_view prefix);
/// The mutant that a DUT is; null where it is none. One of the subnet administrator is refused.
[[nodiscard]] const Mutant* stack_mutant(std::string_view dut);
/// The simulated fabric, with its administrator.
[[nodiscard]] fabric::SimulatedOptions simulated_options(const Target& target, std::uint64_t seed,
                                                         fabric::Loop::Clock clock);
/// The administrator of the simulated fabric that the words name: a mutant, one that is wrong in some histories only,
/// or the usual one.
[[nodiscard]] fabric::SaBehaviour sa_behaviour(std::string_view fabric);
/// "default, controlled, ...": for the help of --scenario.
[[nodiscard]] std::string scenario_names();
/// What the reference stack and its mutants are.
[[nodiscard]] Profile reference_profile(const Target& target);

}  // namespace ipoib::conformance
