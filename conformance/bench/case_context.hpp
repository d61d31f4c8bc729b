// SPDX-License-Identifier: GPL-2.0-or-later
// What the parts of a bench share while one case runs.
#pragma once

#include "conformance/bench/case.hpp"
#include "conformance/bench/findings.hpp"
#include "conformance/bench/observation.hpp"
#include "conformance/bench/profile.hpp"
#include "conformance/bench/recorder.hpp"
#include "conformance/bench/session.hpp"

namespace ipoib::conformance {

struct CaseContext {
    /// `capture`: the index that the evidence file will have. Nothing is owned.
    CaseContext(Session& session_of, const Case& one, const Profile& dut, std::uint32_t capture)
        : running(one),
          session(session_of),
          profile(dut),
          findings(one, capture, recorder),
          observation(session, recorder, findings, one.subject) {}
    CaseContext(const CaseContext&) = delete;
    CaseContext& operator=(const CaseContext&) = delete;

    const Case& running;
    Session& session;
    const Profile& profile;
    Recorder recorder{};
    Findings findings;
    Observation observation;

    [[nodiscard]] Situation& situation() noexcept { return session.situation(); }
    [[nodiscard]] bool has(fabric::Ability ability) { return session.fabric().abilities().has(ability); }
};

}  // namespace ipoib::conformance
