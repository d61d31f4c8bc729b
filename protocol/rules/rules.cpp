// SPDX-License-Identifier: GPL-2.0-or-later
// All rules in one list.
#include "protocol/rules/rule.hpp"

#include <algorithm>
#include <vector>

namespace ipoib::rules {
namespace {

std::vector<Rule> gather() {
    std::vector<Rule> rules;
    for (const auto section : {rfc4391_02(), rfc4391_04(), rfc4391_05(), rfc4391_06(), rfc4391_07(), rfc4391_08(),
                               rfc4391_09(), rfc4391_10(), rfc4391_13(), rfc4392(), rfc4755(), rfc4390(), udmc(),
                               context_unicast(), context_groups(), context_duties(), context_connections()})
        rules.insert(rules.end(), section.begin(), section.end());
    return rules;
}

}  // namespace

std::span<const Rule> all() {
    static const auto rules = gather();
    return rules;
}

std::vector<const Rule*> every() {
    std::vector<const Rule*> pointers;
    for (const auto& rule : all()) pointers.push_back(&rule);
    return pointers;
}

const Rule* find(std::string_view id) {
    const auto rules = all();
    const auto found = std::ranges::find(rules, id, &Rule::id);
    return found == rules.end() ? nullptr : &*found;
}

}  // namespace ipoib::rules
