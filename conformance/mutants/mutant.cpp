// SPDX-License-Identifier: GPL-2.0-or-later
// The list of mutants, by name.
#include "conformance/mutants/mutant.hpp"

#include <algorithm>

namespace ipoib::conformance {

std::string_view kind(const Mutant& mutant) noexcept {
    if (mutant.breaks.empty()) return "permitted";
    return mutant.sa ? "SA" : mutant.hca ? "HCA" : "stack";
}

const std::vector<const Mutant*>& all_mutants() {
    static const auto sorted = [] {
        auto mutants = Registered<Mutant>::list();
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
