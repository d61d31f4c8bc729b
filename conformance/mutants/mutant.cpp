// SPDX-License-Identifier: GPL-2.0-or-later
// The list of mutants, by name.
#include "conformance/mutants/mutant.hpp"

#include <algorithm>
#include <deque>
#include <string>

namespace ipoib::conformance {
namespace {

/// Mutants name themselves by views: here are the names that are made.
struct MadeTwin {
    std::string name, what;
    Mutant mutant;

    explicit MadeTwin(const Mutant& of)
        : name(std::string(of.name) + "-ipv6"),
          what(std::string(of.what) + ", in IPv6 only"),
          mutant{.name = name,
                 .what = what,
                 .breaks = of.twin->breaks.value_or(of.breaks),
                 .stack = of.stack,
                 .scenario = of.scenario,
                 .sometimes = of.twin->sometimes.value_or(of.sometimes),
                 .spares = of.twin->spares.value_or(of.spares),
                 .is_of_ipv6 = true,
                 .registered = Registered<Mutant>{nullptr}} {}
};

}  // namespace

std::string_view kind(const Mutant& mutant) noexcept {
    if (mutant.breaks.empty()) return "permitted";
    return mutant.sa ? "SA" : mutant.hca ? "HCA" : "stack";
}

stack::Policies policies_of(const Mutant& mutant) {
    stack::Policy changed;
    if (mutant.stack) mutant.stack(changed);
    return mutant.is_of_ipv6 ? stack::Policies{{}, changed} : stack::Policies{changed};
}

const std::vector<const Mutant*>& all_mutants() {
    static const auto sorted = [] {
        static std::deque<MadeTwin> twins;
        auto mutants = Registered<Mutant>::list();
        for (const auto* mutant : Registered<Mutant>::list())
            if (mutant->twin) mutants.push_back(&twins.emplace_back(*mutant).mutant);
        std::ranges::sort(mutants, {}, &Mutant::name);
        return mutants;
    }();
    return sorted;
}

const Mutant* find_mutant(std::string_view name) {
    const auto found = std::ranges::find(all_mutants(), name, &Mutant::name);
    return found == all_mutants().end() ? nullptr : *found;
}

}  // namespace ipoib::conformance
