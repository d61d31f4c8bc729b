// SPDX-License-Identifier: GPL-2.0-or-later
// One exchange, from both being there to a result for each.
#pragma once

#include "conformance/bench/case_ends.hpp"
#include "conformance/bench/rule_tally.hpp"
#include "conformance/interop/interop.hpp"

#include <optional>

namespace ipoib::conformance::interop {

class ExchangeRun {
public:
    ExchangeRun(const InteropRun& run, Place& place, const Exchange& one, unsigned repetition, Each<RuleTally>& tallies,
                Each<reports::Results>& results);

    void execute();
    /// Whether both were there.
    [[nodiscard]] bool has_begun() const noexcept { return has_begun_; }
    /// Whether an adapter or the fabric broke, and why.
    [[nodiscard]] bool is_broken() const noexcept { return is_broken_; }
    [[nodiscard]] const std::string& why_broken() const noexcept { return why_broken_; }

    /// Without a verdict yet.
    [[nodiscard]] static reports::Result result_of(const Exchange& one);

private:
    /// What the rules found of one of them.
    struct Violations {
        std::vector<reports::Detail> during;  ///< by frames since the steps began, of statements that bind
        std::vector<reports::Detail> advice;  ///< the same of advice
        std::string first;                    ///< of those, in words; where there is none, of the time before
        bool is_must = false;                 ///< the strongest has a keyword of RFC 2119 in capitals
    };

    void meet(Meeting& meeting);
    void look_for_faults();
    /// Waits for a person, once.
    void pause(const std::string& why);
    [[nodiscard]] bool pauses_at_failures() const { return run_.pause && run_.pause->exchange_id.empty(); }
    /// What only the frames show is not known before they are judged, and then much is undone.
    void pause_at_violations(const Meeting& meeting);
    [[nodiscard]] SubjectFilter subject(const Meeting& meeting, Side side) const {
        return {.guid = meeting.peer(side).guid};
    }
    void broke(Side side, const std::string& why);
    void judge(const Meeting& meeting);
    [[nodiscard]] reports::Result result(Side side) const;
    void count_parts(reports::Result& result, Side side) const;
    void blame(reports::Result& result, Side side) const;
    void keep(const Meeting& meeting);
    /// What it is called in evidence: its id, and which repetition.
    [[nodiscard]] std::string scene() const;
    [[nodiscard]] std::string path(std::string_view ending = ".pcapng") const;
    /// The command that repeats it; empty: none is told.
    [[nodiscard]] std::string repeat() const;
    void write_journal(const std::string& verdicts);

    const InteropRun& run_;
    Place& place_;
    const Exchange& one_;
    unsigned repetition_;
    std::uint64_t seed_;
    Each<RuleTally>& tallies_;
    Each<reports::Results>& results_;
    Recorder recorder_;
    Ledger ledger_;
    Each<Violations> violations_;
    Each<std::vector<std::string>> faults_;
    Each<std::optional<CaseEnds>> ends_;
    std::string why_broken_, not_kept_;
    bool has_begun_ = false, is_broken_ = false, has_paused_ = false;
    double seconds_ = 0;
};

}  // namespace ipoib::conformance::interop
