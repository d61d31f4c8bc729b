// SPDX-License-Identifier: GPL-2.0-or-later
// The judge is judged: the reference must pass every case, every mutant must die by what it declares, and what is
// permitted must pass.
#pragma once

#include "conformance/bench/active.hpp"
#include "conformance/bench/order.hpp"
#include "conformance/mutants/mutant.hpp"

#include <algorithm>

namespace ipoib::conformance {

struct SelftestRun {
    /// Every mutant against every case; else against those that check what it breaks.
    bool is_full = false;
    std::vector<const Case*> cases;  ///< usually all
    std::uint64_t seed = 1;
    /// Beside the runs in which each case has a new DUT: runs with one DUT for all cases, in these orders.
    std::vector<Order> lasting{};
    bool has_references = true;  ///< whether the reference is tried, too
    /// Which mutants are tried; null: all.
    std::function<bool(const Mutant&)> takes{};
    /// Told before each mutant.
    std::function<void(std::string_view mutant, std::size_t number, std::size_t count)> progress{};
    /// Shown every case that was run with a DUT of its own: against which mutant (null: the reference), its frames,
    /// what was found.
    std::function<void(const Mutant*, const Case&, const Recorder&, const reports::Result&)> witness{};
};

/// What is told of a mutant by a run with one DUT for all cases. The case that finds it may be another, and some of
/// what it breaks may be hidden by what cases before have left behind.
struct LastingOutcome {
    Order order;
    std::vector<std::string> killed_by, extra, wrongly_failed;  ///< as in MutantOutcome
};

struct MutantOutcome {
    const Mutant* mutant;
    std::vector<std::string> killed_by;  ///< cases and rules that find it
    /// Requirement ids: declared but not found broken; found broken though not declared (of what was run).
    std::vector<std::string> missing, extra;
    /// A mutant that keeps the interface down makes the other cases INCONC; these FAIL or WARN instead.
    std::vector<std::string> wrongly_failed;
    /// Cases that judge what the mutant breaks and do not find it, though it does not name them as spared; cases that
    /// it names though they do find it, or do not come to it.
    std::vector<std::string> blind, wrongly_spared;
    std::vector<LastingOutcome> lasting{};
    /// How many of the cases say that something is wrong (FAIL, WARN), and how many come to no verdict. One wrong field
    /// is best told by one case, and keeps few from theirs.
    std::size_t accusing = 0, inconclusive = 0;

    [[nodiscard]] bool is_permitted() const noexcept { return mutant->breaks.empty(); }
    /// Found by just what it declares; what is permitted is found by nothing.
    [[nodiscard]] bool is_right_alone() const noexcept {
        return killed_by.empty() == is_permitted() && missing.empty() && extra.empty() && wrongly_failed.empty() &&
               blind.empty() && wrongly_spared.empty();
    }
    /// With one DUT for all cases: found, and by nothing that it does not declare; what is permitted by nothing.
    [[nodiscard]] bool is_right_with(const LastingOutcome& with_one) const noexcept {
        return with_one.killed_by.empty() == is_permitted() && with_one.extra.empty() &&
               with_one.wrongly_failed.empty();
    }
    [[nodiscard]] bool is_right() const noexcept {
        return is_right_alone() &&
               std::ranges::all_of(lasting, [this](const LastingOutcome& one) { return is_right_with(one); });
    }
};

struct SelftestOutcome {
    reports::Results reference;     ///< the cases on stacks, against the reference stack
    reports::Results sa_reference;  ///< the cases on subnet administrators, against the simulated one
    /// The same in the other scenarios that mutants need.
    std::vector<reports::Results> in_scenarios;
    std::vector<std::string> reference_failures;  ///< "scenario[, one DUT, order]: case: verdict: message"
    std::vector<MutantOutcome> mutants;
    std::vector<std::string> idle_cases;  ///< kill no mutant although what they check can be violated
    bool is_complete = false;
};

[[nodiscard]] SelftestOutcome selftest(const SelftestRun& run);

/// The options of a run that has this mutant: "--dut mutant:arp-silent".
[[nodiscard]] std::string options_of(const Mutant& mutant);

/// Whether a WARN about a subnet administrator is the doing of who set the scenario up: with an ordinary Q_Key, though
/// a controlled one is recommended. RFC 4391, 4.1.
[[nodiscard]] bool is_set_aside(const reports::Result& result, std::string_view scenario);

/// What the results of a mutant tell of it. Of a `selection` only what its cases check can be asked for; null: all.
/// Where not all cases were run (`has_all_cases`), a rule need not have seen what it would find.
[[nodiscard]] MutantOutcome outcome_of(const Mutant& mutant, const reports::Results& results,
                                       const std::vector<const Case*>* selection = nullptr, bool has_all_cases = true);

/// Those of `all` that are not among `some`.
[[nodiscard]] std::vector<std::string> missing_in(const std::vector<std::string>& some,
                                                  const std::vector<std::string>& all);

/// For people: a line for each mutant with what kills it, then what is wrong.
[[nodiscard]] std::string kill_matrix(const SelftestOutcome& outcome);

}  // namespace ipoib::conformance
