// SPDX-License-Identifier: GPL-2.0-or-later
// Relations by name.
#include "conformance/metamorphic/relation.hpp"

namespace ipoib::metamorphic {

std::vector<const Relation*> all_relations() {
    auto relations = Registered<Relation>::list();
    std::ranges::sort(relations, {}, &Relation::name);
    return relations;
}

const Relation* find_relation(std::string_view name) {
    for (const auto* relation : Registered<Relation>::list())
        if (relation->name == name) return relation;
    return nullptr;
}

}  // namespace ipoib::metamorphic
