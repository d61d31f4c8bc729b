// SPDX-License-Identifier: GPL-2.0-or-later
// Mutations by name.
#include "traffic-gen/mutation.hpp"

#include <algorithm>

namespace ipoib::traffic {

std::vector<const Mutation*> all_mutations() {
    auto mutations = Registered<Mutation>::list();
    std::ranges::sort(mutations, {}, &Mutation::name);
    return mutations;
}

const Mutation* find_mutation(std::string_view name) {
    for (const auto* mutation : Registered<Mutation>::list())
        if (mutation->name == name) return mutation;
    return nullptr;
}

}  // namespace ipoib::traffic
