// SPDX-License-Identifier: GPL-2.0-or-later
// Names into the simulated fabric and what is on it.
#include "conformance/target/simulated_target.hpp"

#include "base/nearest.hpp"
#include "conformance/mutants/lapse.hpp"
#include "conformance/target/simulated_dut.hpp"

#include <stdexcept>

namespace ipoib::conformance {

const Mutant* mutant_named(std::string_view choice, std::string_view prefix) {
    if (!choice.starts_with(prefix)) return nullptr;
    const auto name = choice.substr(prefix.size());
    if (const auto* mutant = find_mutant(name)) return mutant;
    Nearest nearest{name};
    for (const auto* mutant : all_mutants()) nearest.offer(mutant->name);
    if (prefix == sa_mutant_prefix)
        for (const auto& lapse : all_lapses()) nearest.offer(lapse.name);
    throw std::invalid_argument("there is no mutant '" + std::string(name) + "'" + nearest.question() +
                                " (ipoib-conform selftest names them)");
}

const Mutant* stack_mutant(std::string_view dut) {
    const auto* mutant = mutant_named(dut, mutant_prefix);
    if (mutant && mutant->sa)
        throw std::invalid_argument("'" + std::string(mutant->name) +
                                    "' is a mutant of the subnet administrator: --fabric " +
                                    std::string(sa_mutant_prefix) + std::string(mutant->name) + " --dut sa");
    return mutant;
}

fabric::SimulatedOptions simulated_options(const Target& target, std::uint64_t seed, fabric::Loop::Clock clock) {
    fabric::SimulatedOptions options{
        .scenario = &fabric::scenario_named(target.scenario), .seed = seed, .clock = clock};
    options.sa = sa_behaviour(target.fabric);
    return options;
}

fabric::SaBehaviour sa_behaviour(std::string_view fabric) {
    fabric::SaBehaviour behaviour;
    if (!fabric.starts_with(sa_mutant_prefix)) return behaviour;
    if (const auto* lapse = find_lapse(fabric.substr(sa_mutant_prefix.size()))) {
        behaviour.lapse = lapse->lapse;
        return behaviour;
    }
    const auto* mutant = mutant_named(fabric, sa_mutant_prefix);
    if (!mutant->sa)
        throw std::invalid_argument("'" + std::string(mutant->name) + "' is no mutant of the subnet administrator");
    mutant->sa(behaviour);
    return behaviour;
}

std::string scenario_names() { return fabric::scenario_names(); }

Profile reference_profile(const Target& target) {
    return SimulatedDut::profile(fabric::scenario_named(target.scenario).dut_guid);
}

}  // namespace ipoib::conformance
