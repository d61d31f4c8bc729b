// SPDX-License-Identifier: GPL-2.0-or-later
// How a case ends before its last step.
#pragma once

#include "reports/results.hpp"

#include <fmt/format.h>

#include <optional>
#include <string>

namespace ipoib::conformance {

/// Thrown by the bench and by the session, never by a case: what must be there for the case to go on is not.
struct CaseEnds {
    std::optional<reports::Verdict> verdict;  ///< none: what was judged so far stands
    std::string why{};
    reports::NotJudged reason = reports::NotJudged::none;

    /// A requirement is violated in a way that leaves nothing to go on with.
    [[nodiscard]] static CaseEnds as_judged() { return {.verdict = {}}; }
    /// What the case needs is not here: NA.
    [[nodiscard]] static CaseEnds not_applicable(reports::NotJudged reason, std::string why) {
        return {.verdict = reports::Verdict::na, .why = std::move(why), .reason = reason};
    }
    /// The tester cannot do it, or the fabric.
    [[nodiscard]] static CaseEnds not_applicable(std::string why) {
        return not_applicable(reports::NotJudged::tester, std::move(why));
    }
    /// The DUT gave no evidence: INCONC.
    [[nodiscard]] static CaseEnds inconclusive(std::string why) {
        return {.verdict = reports::Verdict::inconc, .why = std::move(why)};
    }
    /// The case is wrong, or somebody floods the link: ERROR.
    [[nodiscard]] static CaseEnds error(std::string why) {
        return {.verdict = reports::Verdict::error, .why = std::move(why)};
    }
};

/// The DUT's interface, which the case needs, is not there: INCONC, as all cases that need it; NA where nobody tells
/// its address, so that it cannot be looked for.
struct DutStaysDown : CaseEnds {
    DutStaysDown()
        : CaseEnds(not_applicable("nobody tells an address of the DUT: neither its adapter nor its profile")) {}
    /// `waited` in seconds.
    DutStaysDown(double waited, const std::string& why)
        : CaseEnds(inconclusive(fmt::format("the DUT's interface does not come up within {:g} s ({})", waited, why))) {}
};

}  // namespace ipoib::conformance
