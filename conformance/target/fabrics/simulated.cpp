// SPDX-License-Identifier: GPL-2.0-or-later
// --fabric simulated: a fabric of this process.
#include "conformance/target/fabrics/simulated.hpp"

#include "conformance/target/fabric_kind.hpp"
#include "conformance/target/raw_ports.hpp"

#include <array>

namespace ipoib::conformance {
namespace {

constexpr std::array simulated_forms{FabricForm{FabricUse::run, usual_fabric, "in this process, the default"},
                                     FabricForm{FabricUse::run, sa_mutant_form, "with a wrong subnet administrator"},
                                     FabricForm{FabricUse::traffic, usual_fabric, "in this process"},
                                     FabricForm{FabricUse::audit, usual_fabric, "a rehearsal"},
                                     FabricForm{FabricUse::audit, sa_mutant_form, "with a wrong subnet administrator"}};

/// Without others on it, time is virtual.
OpenedFabric open_simulated(const Opening& opening) {
    using Clock = fabric::Loop::Clock;
    constexpr unsigned hosts_alone = 4, hosts_among_others = 1;
    const bool is_alone = opening.listen.empty();
    const fabric::SimulatedOptions options{
        .scenario = &fabric::scenario_named(opening.scenario),
        .seed = opening.seed,
        .clock = is_alone ? Clock::virtual_time : Clock::real,
        .tester_ports = opening.hosts.value_or(is_alone ? hosts_alone : hosts_among_others)};
    if (is_alone) return {std::make_unique<fabric::SimulatedFabric>(options)};
    return {std::make_unique<ListeningFabric>(options, std::string(opening.listen))};
}

}  // namespace

namespace kinds {

extern const FabricKind simulated{.scheme = usual_fabric,
                                  .owner = Owner::us,
                                  .usual_impact = fabric::Impact::fabric,
                                  .forms = simulated_forms,
                                  .open = open_simulated};

}  // namespace kinds
}  // namespace ipoib::conformance
