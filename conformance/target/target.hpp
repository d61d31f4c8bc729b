// SPDX-License-Identifier: GPL-2.0-or-later
// A fabric with a DUT on it, made as the command line says: --fabric, --dut, --scenario, --listen.
#pragma once

#include "conformance/bench/rig.hpp"
#include "conformance/target/fabric_kind.hpp"

#include <functional>
#include <memory>
#include <string>

namespace ipoib::conformance {

/// What --fabric and --dut name. Parsing refuses what is not built.
struct Target {
    std::string fabric{usual_fabric}, dut = "reference", scenario = "default";
    std::string listen;          ///< path of a raw port for a DUT in another process; empty: none
    std::string fabric_control;  ///< command; empty: none
    /// Of a DUT in this process: one fabric and one DUT for all cases, where else each case has new ones.
    bool is_lasting = false;
    SessionOptions session{};
    /// Told what a person at the terminal should know while a run goes on; null: nobody listens.
    std::function<void(const std::string&)> remark{};

    /// Whether the implementation under test is the subnet administrator.
    [[nodiscard]] bool judges_sa() const noexcept { return dut == "sa"; }
    [[nodiscard]] bool has_control() const noexcept { return dut != "none" && dut != "sa"; }
    /// Whether it is the reference stack, or a mutant of it, in this process.
    [[nodiscard]] bool is_ours() const noexcept { return dut == "reference" || dut.starts_with("mutant:"); }
    /// Without what is only for traffic.
    [[nodiscard]] Opening opening() const noexcept {
        return {.fabric = fabric,
                .scenario = scenario,
                .control = fabric_control,
                .listen = listen,
                .seed = session.seed,
                .timeout_scale = session.timeout_scale};
    }
};

/// Throws std::invalid_argument for what cannot be (a usage error), std::runtime_error for what fails.
[[nodiscard]] std::unique_ptr<Rig> make_rig(const Target& target, const FabricKinds& kinds = fabric_kinds());

/// What can be done there, told without using a port of this host: it need not be there. Throws as make_rig.
[[nodiscard]] fabric::Abilities abilities_of(const Target& target, const FabricKinds& kinds = fabric_kinds());

}  // namespace ipoib::conformance
