// SPDX-License-Identifier: GPL-2.0-or-later
// What a run found, as reports and CI read it. Format "ipoib-conform-results/1"; docs/results.md describes it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ipoib::reports {

/// In the order of the roll-up: the first one present wins.
enum class Verdict : std::uint8_t { fail, xpass, error, inconc, warn, xfail, pass, na };

/// Why nothing was judged.
enum class NotJudged : std::uint8_t { none, profile, tester, link, safety, not_seen, inspection };

/// "FAIL", "XPASS" ...
[[nodiscard]] std::string_view name(Verdict);
/// "not-seen", "link" ...; empty for `none`.
[[nodiscard]] std::string_view name(NotJudged);

/// One violation (or note), with the field that shows it.
struct Detail {
    std::uint32_t capture = 0;  ///< index into Results::captures
    std::uint64_t frame = 0;    ///< from 1
    std::uint32_t offset = 0;   ///< of the field, in octets from the frame's first octet
    std::string field, expected, actual;
    std::string subject;  ///< the party judged: a port GUID (16 hex digits) or "LID 0x0004"
    std::string link;     ///< "fe80::/0xffff"
};

/// What one rule or case found.
struct Result {
    std::string id, title;
    Verdict verdict = Verdict::na;
    NotJudged na = NotJudged::not_seen;
    std::string fail_type;            ///< "FAIL.MUST", "FAIL.SHOULD", "FAIL.CRASH"; empty unless the verdict is FAIL
    std::vector<std::string> checks;  ///< requirement ids
    std::string message;              ///< for people: why this verdict
    std::uint64_t observed = 0, violations = 0;
    std::vector<std::uint64_t> frames;  ///< of the first 100 violations
    std::vector<Detail> details;        ///< of the first 100 violations
    std::vector<std::string> notes;     ///< what is worth knowing although it changes no verdict
    std::string evidence;               ///< the capture file, relative to the results file
    std::string reference;              ///< of the baseline entry that excused it
    std::uint32_t capture = 0;          ///< which capture was judged
    double seconds = 0;
};

/// A requirement's verdict, rolled up over everything that judged it.
struct RequirementResult {
    std::string id, level, strength, section, statement;
    Verdict verdict = Verdict::na;
    NotJudged na = NotJudged::not_seen;
    std::string reason;  ///< for NA
    std::vector<std::string> by;
};

/// One capture that was read.
struct CaptureResult {
    std::string file;
    int link_type = -1;
    std::uint64_t packets = 0, ipoib = 0;
    std::vector<std::string> notes;  ///< cut last record, skipped records, frames with a wrong ICRC ...
    std::string error;               ///< what stopped the reading; empty when all was read
};

/// One run of `check`, `run` or `audit`.
struct Results {
    std::string suite;  ///< version
    std::vector<std::string> command;
    std::uint64_t seed = 0;
    std::string started;  ///< UTC, "2026-01-01T00:00:00"
    std::string host;
    double seconds = 0;
    std::vector<std::pair<std::string, std::string>> fabric, dut;
    std::vector<CaptureResult> captures;
    std::vector<Result> results;
    std::vector<RequirementResult> requirements;
};

/// Exit code of `check`, `run` and `audit`: 3 an ERROR, 1 a FAIL or XPASS, 5 an INCONC, 4 nothing judged, else 0.
[[nodiscard]] int exit_code(const Results&);

/// "judged X of Y MUSTs; Z not judgeable here: reasons", for the head of every report.
[[nodiscard]] std::string coverage_sentence(const Results&);

}  // namespace ipoib::reports
