// SPDX-License-Identifier: GPL-2.0-or-later
// The reference stack, or a mutant of it, on an adapter of the simulated fabric.
#pragma once

#include "conformance/bench/profile.hpp"
#include "conformance/mutants/mutant.hpp"
#include "conformance/target/in_process.hpp"
#include "fabric/node/hca.hpp"
#include "fabric/node/sa_client.hpp"
#include "fabric/simulated/fabric.hpp"
#include "stack/adapter.hpp"
#include "stack/node.hpp"

namespace ipoib::conformance {

class SimulatedDut {
public:
    /// Waits until the subnet manager has brought the port up; throws SessionBroken. `mutant` null: the reference.
    SimulatedDut(fabric::SimulatedFabric& fabric, std::uint64_t port_guid, const Mutant* mutant);
    /// Unplugs it: the fabric may go on.
    ~SimulatedDut();
    SimulatedDut(const SimulatedDut&) = delete;
    SimulatedDut& operator=(const SimulatedDut&) = delete;

    [[nodiscard]] DutControl& control() noexcept { return control_; }
    /// What it is.
    [[nodiscard]] static Profile profile(std::uint64_t port_guid);

private:
    void arm_habit(const Habit& habit);

    fabric::Hca hca_;
    fabric::SaClient sa_;
    stack::Node node_;
    stack::Adapter adapter_;
    InProcess control_;
    fabric::Loop& loop_;
    fabric::TimerId habit_timer_{};
    fabric::SwitchPort* port_ = nullptr;
};

}  // namespace ipoib::conformance
