// SPDX-License-Identifier: GPL-2.0-or-later
// Judging what a subnet administrator holds.
#pragma once

#include "conformance/audit/rule.hpp"
#include "conformance/judge/selection.hpp"
#include "reports/results.hpp"

#include <vector>

namespace ipoib::audit {

/// What a selector can match, for every rule; the tag is "audit".
[[nodiscard]] std::vector<conformance::Selectable> selectable_rules();
/// The rules that a selection means.
[[nodiscard]] std::vector<const Rule*> selected_rules(const conformance::Selection& selection);

/// A result for each rule, with the first 100 violations in `details`: `subject` is the group, or the port of a member,
/// `link` the P_Key. `Results::requirements` is left to roll_up.
/// Several inventories are those of subnets that routers join.
[[nodiscard]] reports::Results judge(std::span<const Inventory> subnets, const std::vector<const Rule*>& rules);
[[nodiscard]] reports::Results judge(const Inventory& inventory, const std::vector<const Rule*>& rules);

}  // namespace ipoib::audit
