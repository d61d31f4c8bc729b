// SPDX-License-Identifier: GPL-2.0-or-later
// All rules in one list, in the order of the texts.
#include "protocol/rules/rule.hpp"

#include <algorithm>
#include <vector>

namespace ipoib::rules {
namespace {

std::vector<Rule> gather() {
    std::vector<Rule> rules;
    for (const auto section : {rfc4391_04(), rfc4391_06(), rfc4391_07(), rfc4391_08(), rfc4391_09()})
        rules.insert(rules.end(), section.begin(), section.end());
    return rules;
}

}  // namespace

std::span<const Rule> all() {
    static const auto rules = gather();
    return rules;
}

const Rule* find(std::string_view id) {
    const auto rules = all();
    const auto found = std::ranges::find(rules, id, &Rule::id);
    return found == rules.end() ? nullptr : &*found;
}

}  // namespace ipoib::rules
