// SPDX-License-Identifier: GPL-2.0-or-later
// The list of cases, in the order of their ids, and what selectors know of them.
#include "conformance/bench/case.hpp"

#include "conformance/bench/active.hpp"
#include "conformance/judge/passive.hpp"

#include <algorithm>

namespace ipoib::conformance {

std::string in_words(fabric::Abilities abilities) {
    using fabric::Ability;
    constexpr std::array<std::pair<Ability, std::string_view>, 7> words{
        {{Ability::any_frame, "send frames with every bit as given"},
         {Ability::see_all, "show the frames between other nodes"},
         {Ability::reports, "receive the SA's reports"},
         {Ability::fabric_control, "be changed from outside (--fabric-control)"},
         {Ability::two_ports, "give the tester a second port"},
         {Ability::trusted_sa, "tell the members of a group"},
         {Ability::long_tables, "get the SA's answers that need several segments"}}};
    std::string text;
    for (const auto& [ability, what] : words)
        if (abilities.has(ability)) text += (text.empty() ? "" : ", ") + std::string(what);
    return text;
}

const std::vector<const Case*>& all_cases() {
    static const auto sorted = [] {
        auto cases = Registered<Case>::list();
        std::ranges::sort(cases, [](const Case* a, const Case* b) { return in_order(a->id, b->id); });
        return cases;
    }();
    return sorted;
}

const Case* find_case(std::string_view id) {
    const auto found = std::ranges::find_if(all_cases(), [&](const Case* one) { return one->id == id; });
    return found == all_cases().end() ? nullptr : *found;
}

/// "4391-10-" goes after "4391-9-": numbers are compared as numbers.
bool in_order(std::string_view a, std::string_view b) noexcept {
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    std::size_t i = 0, j = 0;
    while (i < a.size() && j < b.size()) {
        if (is_digit(a[i]) && is_digit(b[j])) {
            const auto number = [&](std::string_view text, std::size_t& at) {
                std::uint64_t value = 0;
                for (; at < text.size() && is_digit(text[at]); ++at)
                    value = value * 10 + static_cast<std::uint64_t>(text[at] - '0');
                return value;
            };
            const auto left = number(a, i), right = number(b, j);
            if (left != right) return left < right;
            continue;
        }
        if (a[i] != b[j]) return a[i] < b[j];
        ++i, ++j;
    }
    return a.size() - i < b.size() - j;
}

std::vector<Selectable> selectable_cases() {
    std::vector<Selectable> selectable;
    for (const auto* one : all_cases()) {
        Selectable entry{.id = one->id, .requirements = {}, .strength = {}, .tags = one->tags};
        auto strongest = requirements::Strength::may;
        for (const auto* requirement : one->checks) {
            entry.requirements.push_back(requirement->id);
            strongest = std::min(strongest, requirement->strength);
        }
        entry.strength = strength_name(strongest);
        entry.status = status_of(one->checks);
        selectable.push_back(std::move(entry));
    }
    return selectable;
}

std::vector<const Case*> selected_cases(const Selection& selection) {
    std::vector<const Case*> selected;
    const auto candidates = selectable_cases();
    for (std::size_t i = 0; i < candidates.size(); ++i)
        if (selection.matches(candidates[i])) selected.push_back(all_cases()[i]);
    return selected;
}

}  // namespace ipoib::conformance
