// SPDX-License-Identifier: GPL-2.0-or-later
// Which cases, exchanges and rules an active run is asked for: selectors, what failed before, a shard.
#pragma once

#include "conformance/audit/rule.hpp"
#include "conformance/bench/active.hpp"
#include "conformance/bench/order.hpp"
#include "conformance/interop/exchange.hpp"

#include <optional>
#include <string>
#include <vector>

namespace ipoib::conformance {

struct Choice {
    std::vector<const Case*> cases;
    std::vector<const rules::Rule*> rules;
    std::vector<const audit::Rule*> audits;
};

/// What the selectors mean. Throws UsageError when one matches neither a case nor a rule, be it one of audit.
[[nodiscard]] Choice choose(const std::vector<std::string>& selectors);

/// The requirements that an active run is about, of what `chosen` has; nothing where all are meant.
[[nodiscard]] std::optional<std::vector<std::string>> requirements_of_run(const std::vector<std::string>& selectors,
                                                                          const Choice& chosen, bool is_narrowed);

/// Leaves what is FAIL, XPASS, ERROR, INCONC or WARN in a results file. A rule brings the cases whose evidence shows
/// its violations; where the file does not tell which, all of them. Throws UsageError for a file that cannot be read;
/// returns the ids that do not exist (any more).
std::vector<std::string> keep_failed(Choice& choice, const std::string& results);

/// The same of exchanges; either side's verdict counts.
std::vector<std::string> keep_failed(std::vector<const interop::Exchange*>& exchanges, const std::string& results);

/// "I/N" with I from 1. Throws UsageError.
[[nodiscard]] reports::Shard shard_named(const std::string& text);
/// "declared" or "seed=N". Throws UsageError.
[[nodiscard]] Order order_named(const std::string& text);
/// Leaves what is in the shard, "I/N"; every rule stays: each judges what its shard provokes. Throws UsageError.
template <class Each>
void keep_shard(std::vector<const Each*>& all, const std::string& text) {
    const auto shard = shard_named(text);
    std::erase_if(all, [&](const Each* one) { return !is_in_shard(one->id, shard.index, shard.count); });
}

}  // namespace ipoib::conformance
