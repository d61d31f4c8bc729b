// SPDX-License-Identifier: GPL-2.0-or-later
// Looks up what covers each requirement.
#include "conformance/documents/coverage.hpp"

#include <algorithm>

namespace ipoib::conformance {
namespace {

template <class Judge>
bool bears_on(const Judge& judge, std::string_view requirement) {
    return std::ranges::any_of(judge.checks, [&](const requirements::Requirement* checked) {
        if (!checked) return false;  // a rule's list has room for more
        const auto closure = requirements::closure(*checked);
        return std::ranges::find(closure, requirement) != closure.end();
    });
}

Coverage coverage_of(const requirements::Requirement& requirement) {
    Coverage found{.requirement = &requirement};
    for (const auto* one : all_cases())
        if (bears_on(*one, requirement.id)) found.cases.push_back(one);
    for (const auto& rule : rules::all())
        if (bears_on(rule, requirement.id)) found.rules.push_back(&rule);
    for (const auto& rule : audit::rules())
        if (bears_on(rule, requirement.id)) found.audits.push_back(&rule);
    for (const auto& ground : grounds())
        if (ground.requirement == &requirement) found.ground = &ground;
    return found;
}

}  // namespace

std::string_view name(Manner manner) noexcept { return manner == Manner::construction ? "construction" : "inspection"; }

std::string Coverage::status() const {
    using requirements::Test;
    const auto with_ground = [&](std::string judged) {
        return ground ? judged + (judged.empty() ? "" : " and ") + std::string(name(ground->manner)) : judged;
    };
    if (!cases.empty()) return with_ground(rules.empty() ? "case" : "case and rule");
    const bool is_for_audit = rules.empty() && !audits.empty();
    if (ground) return with_ground(is_for_audit ? "audit" : rules.empty() ? "" : "rule");
    if (has(requirement->test, Test::active)) return "open: needs a case";
    if (!rules.empty()) return "rule";
    if (is_for_audit) return "audit";
    return has(requirement->test, Test::passive) ? "open: needs a rule" : "open: needs a reason";
}

std::vector<std::string_view> Coverage::by() const {
    std::vector<std::string_view> ids;
    for (const auto* one : cases) ids.push_back(one->id);
    for (const auto* rule : rules) ids.push_back(rule->id);
    for (const auto* rule : audits) ids.push_back(rule->id);
    return ids;
}

std::vector<Coverage> coverage() {
    std::vector<Coverage> all;
    for (const auto* requirement : requirements::all()) all.push_back(coverage_of(*requirement));
    return all;
}

}  // namespace ipoib::conformance
