// SPDX-License-Identifier: GPL-2.0-or-later
// A fabric with a DUT on it, made as the command line says: --fabric, --dut, --scenario, --listen.
#pragma once

#include "conformance/engine/profile.hpp"
#include "conformance/engine/session.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace ipoib::conformance {

/// What --fabric and --dut name. Parsing refuses what is not built.
struct Target {
    std::string fabric = "simulated", dut = "reference", scenario = "default";
    std::string listen;          ///< path of a raw port for a DUT in another process; empty: none
    std::string fabric_control;  ///< command; empty: none
    SessionOptions session{};
    /// Told what a person at the terminal should know while a run goes on; null: nobody listens.
    std::function<void(const std::string&)> remark{};

    /// Whether the implementation under test is the subnet administrator.
    [[nodiscard]] bool judges_sa() const noexcept { return dut == "sa"; }
    [[nodiscard]] bool has_control() const noexcept { return dut != "none" && dut != "sa"; }
    /// Whether it is the reference stack, or a mutant of it, in this process.
    [[nodiscard]] bool is_ours() const noexcept { return dut == "reference" || dut.starts_with("mutant:"); }
};

/// Makes sessions. A rig wholly inside this process makes a new fabric and DUT for each case; any other keeps them.
class Rig {
public:
    virtual ~Rig() = default;
    /// The session for the next case. Throws SessionBroken, ChannelBroken.
    virtual Session& prepare(std::uint64_t seed) = 0;
    /// After a case: what it left behind is undone, or thrown away. A session that broke is not used again.
    struct CaseEnd {
        bool changed_fabric = false, is_broken = false;
    };
    /// What could not be put back, so that no further case can be judged here; empty where all could.
    [[nodiscard]] virtual std::string clean_up(CaseEnd end) = 0;
    /// What can be done here, before anything is sent; facts for the report, known after the first prepare().
    [[nodiscard]] virtual fabric::Abilities abilities() const = 0;
    [[nodiscard]] virtual std::vector<std::pair<std::string, std::string>> fabric_facts() const = 0;
    [[nodiscard]] virtual bool is_virtual() const = 0;
};

/// Throws std::invalid_argument for what cannot be (a usage error), std::runtime_error for what fails.
[[nodiscard]] std::unique_ptr<Rig> make_rig(const Target& target);

/// What can be done there, told without using a port of this host: it need not be there. Throws as make_rig.
[[nodiscard]] fabric::Abilities abilities_of(const Target& target);

}  // namespace ipoib::conformance
