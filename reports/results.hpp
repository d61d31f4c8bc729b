// SPDX-License-Identifier: GPL-2.0-or-later
// What a run found, as reports and CI read it. Format "ipoib-conform-results/1"; docs/results.md describes it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
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
/// The verdict that `name` writes so; nothing for any other text.
[[nodiscard]] std::optional<Verdict> verdict_of(std::string_view name);
/// The reason that `name` writes so; nothing for any other text, the empty one included.
[[nodiscard]] std::optional<NotJudged> not_judged_of(std::string_view name);

/// Of a result that is of none of the captures of a merged report.
inline constexpr std::uint32_t no_capture = 0xffffffff;

/// One violation (or note), with the field that shows it.
struct Detail {
    std::uint32_t capture = 0;  ///< index into Results::captures
    std::uint64_t frame = 0;    ///< from 1
    std::uint32_t offset = 0;   ///< of the field, in octets from the frame's first octet
    std::string field, expected, actual;
    std::string subject;                         ///< the party judged: a port GUID (16 hex digits) or "LID 0x0004"
    std::string link;                            ///< "fe80::/0xffff"
    std::string in_case = {};                    ///< of a rule under `run`: the case whose frame it is
    std::vector<std::string> requirements = {};  ///< ids that are charged, where they are not all of the checks
    std::int64_t time = 0;                       ///< of the frame, in ns since 1970; 0: not known
    std::vector<std::string> assumed = {};       ///< what the user vouches for, without which it is not proven: "whole"
    // Known while a capture is read, and not kept in results.
    std::string group = {};  ///< MGID that the frame goes to, or that its record names
};

/// What a rule found among the frames of one case of an active run.
struct CaseFrames {
    std::string id;  ///< of the case; of its repetitions "IPOIB-4391-6-VAL-001-2"
    std::uint64_t violations = 0;
    std::vector<std::uint64_t> frames;  ///< of its first violations, numbered in this case's evidence
};

/// A case's verdict on one of the requirements it checks.
struct PartVerdict {
    std::string id;
    Verdict verdict = Verdict::na;
    NotJudged na = NotJudged::not_seen;
    std::uint64_t observed = 0;
    std::string fail_type = {};  ///< as in Result
};

/// What one rule or case found.
struct Result {
    std::string id, title;
    Verdict verdict = Verdict::na;
    NotJudged na = NotJudged::not_seen;
    /// "FAIL.MUST", "FAIL.STATED", "FAIL.SHOULD", "FAIL.CRASH": the force of the strongest statement that is violated;
    /// empty unless the verdict is FAIL.
    std::string fail_type;
    std::vector<std::string> checks;  ///< requirement ids
    std::vector<PartVerdict> parts;   ///< where they differ among the checks; a check that is not here has `verdict`
    std::string message;              ///< for people: why this verdict
    std::uint64_t observed = 0, violations = 0;
    std::vector<std::uint64_t> frames;  ///< of the first 100 violations
    std::vector<Detail> details;        ///< of the first 100 violations
    std::vector<std::string> notes;     ///< what is worth knowing although it changes no verdict
    std::string evidence;               ///< the capture file, as opened from here (the results file makes it relative)
    std::string reference;              ///< of the baseline entry that excused it
    std::string repeat;                 ///< the command that repeats only this
    std::uint32_t capture = 0;          ///< which capture was judged
    double seconds = 0;
    std::string host = {};                         ///< which of Results::hosts it is of; empty in a run of one host
    std::vector<CaseFrames> cases = {};            ///< of a rule under `run`: those in which it is violated
    std::map<Verdict, unsigned> repetitions = {};  ///< how often each verdict, of a case that was repeated
    std::string revision = {};                     ///< changes with the definition of the rule or case; empty: unknown
};

/// A requirement's verdict, rolled up over everything that judged it.
struct RequirementResult {
    std::string id, level, strength, section, statement;
    Verdict verdict = Verdict::na;
    NotJudged na = NotJudged::not_seen;
    std::string reason;  ///< for NA; else why a violation means less for this one than for what was checked
    std::vector<std::string> by;
    std::string force = {};   ///< "MUST" with a keyword of RFC 2119 in capitals, "STATED", "SHOULD", "MAY"
    std::string status = {};  ///< of the document: "standard", "informative"
};

/// One capture that was read.
struct CaptureResult {
    std::string file;  ///< as opened from here (the results file makes it relative); "-" is standard input
    int link_type = -1;
    std::uint64_t packets = 0, ipoib = 0;
    std::vector<std::string> notes;     ///< cut last record, skipped records, frames with a wrong ICRC ...
    std::string error;                  ///< what stopped the reading; empty when all was read
    std::string host = {};              ///< as in Result
    std::int64_t began = 0, ended = 0;  ///< of the first and the last frame, in ns since 1970; 0: not known
};

/// What shows how far verdicts can be relied on: measured on the suite itself, and kept with it.
struct Proof {
    std::string name;      ///< "kill matrix"
    std::string found;     ///< a sentence or two, with the numbers
    std::string page;      ///< in the source of the suite: "docs/kill-matrix.md"
    std::string revision;  ///< changes with the page
    friend bool operator==(const Proof&, const Proof&) = default;
};

/// One of the parts that `run --shard` makes of a run: the index-th of count, from 1.
struct Shard {
    unsigned index = 1, count = 1;
    [[nodiscard]] bool operator==(const Shard&) const = default;
};
/// Of "2/4"; nothing for a text that is no shard.
[[nodiscard]] std::optional<Shard> shard_of(std::string_view text);

/// Something that no text forbids and users suffer from: a FINDING. It changes no verdict; with `--strict` the exit
/// code.
struct Beyond {
    std::string name;                        ///< permanent, such as "duplicate-address"
    std::string text;                        ///< a sentence or two
    std::string link;                        ///< "fe80::/0x8001"; empty where it is not about one
    std::uint32_t capture = no_capture;      ///< index into Results::captures
    std::vector<std::uint64_t> frames = {};  ///< the first of those that show it
    std::string host = {};                   ///< as in Result
};
/// So many are kept of each capture, and of a survey; the last one then counts the others.
inline constexpr std::size_t most_beyond = 1000;

/// What one rule would break if one doubt did not stand against it: frames of one subject. It is no verdict.
struct Suspicion {
    std::string doubt;                     ///< "lost frames": docs/results.md has the list
    std::string supposes;                  ///< what would make the frames innocent
    std::string lacks;                     ///< what the capture does not show
    std::string settled_by;                ///< what else to capture, or to look at
    std::string assume;                    ///< the --assume that decides it; empty where none does
    std::string command = {};              ///< the command with it
    std::string rule, title;               ///< id and claim of the rule
    std::vector<std::string> checks = {};  ///< requirement ids
    std::uint64_t count = 0;               ///< of all such frames
    std::vector<Detail> details = {};      ///< the first of them, at least one
    std::string host = {};                 ///< as in Result
};

/// One host of a merged report, with what its results come to.
struct HostResult {
    std::string name;
    std::string suite;  ///< version that judged there
    std::vector<std::string> command;
    std::uint64_t seed = 0;
    std::string started;
    double seconds = 0;
    std::vector<std::pair<std::string, std::string>> fabric, dut;
    std::vector<Shard> shards;          ///< of the runs whose results are here; empty where they were whole
    std::vector<std::string> errors;    ///< results that are missing or cannot be read, and why
    std::vector<std::string> notes;     ///< other versions of the suite, cases that were run twice ...
    Verdict verdict = Verdict::na;      ///< the first one present, an ERROR for `faults_of` among them
    std::vector<Verdict> requirements;  ///< in the order of Results::requirements
};

/// One run of `check`, `run` or `audit`; or, with `hosts`, such runs of many hosts merged.
struct Results {
    std::string suite;                 ///< version
    std::vector<std::string> command;  ///< what the user called: this program, or one that called it
    std::uint64_t seed = 0;
    std::string started;  ///< UTC, "2026-01-01T00:00:00"
    std::string host;
    double seconds = 0;
    std::vector<std::pair<std::string, std::string>> fabric, dut;  ///< with `hosts`: what all have in common
    std::vector<HostResult> hosts;                                 ///< empty in a run of one host
    std::vector<CaptureResult> captures;
    std::vector<Result> results;
    std::vector<RequirementResult> requirements;
    std::vector<Beyond> beyond = {};  ///< what no text forbids
    std::vector<Suspicion> suspicions = {};
    /// The requirements that the selectors chose; nothing where there were none, and all are meant.
    std::optional<std::vector<std::string>> selected = {};
    bool is_strict = false;  ///< `apply_strict` was called
    /// What is claimed of the DUT, each with its value ("not stated"); with `hosts`: what is claimed of all. Empty
    /// where nobody claims anything, as of a capture.
    std::vector<std::pair<std::string, std::string>> claims = {};
    std::vector<Proof> proofs = {};  ///< of the suite that judged
};

/// Whether a requirement is among those that the selectors chose.
[[nodiscard]] bool is_selected(const Results&, const RequirementResult&);

/// "ipoib-conform 0.1.0 check a.pcap", for the head of a report; where another program called this one,
/// "scripts/lab run (ipoib-conform 0.1.0)". Words are clipped to one line.
[[nodiscard]] std::string called(const Results&);

/// Whether a rule or case saw something and said what it thinks of it: neither NA nor a PASS of nothing.
[[nodiscard]] bool judged(const Result&);

/// "FAIL in 3 of 10 repetitions"; empty of a case that was not repeated.
[[nodiscard]] std::string repetitions_text(const Result&);
/// Whether its repetitions came to several verdicts.
[[nodiscard]] bool is_flaky(const Result&);

/// Whether the first is the worse one: by the roll-up, and a crash before any other FAIL.
[[nodiscard]] bool is_worse(const Result&, const Result& than);

/// Makes one result of two of the same rule: what they observed is added up, the worse verdict counts.
void add_up(Result& sum, Result&& more);

/// Whether several captures were judged each by itself, so that an id has a result for each: not the evidence of an
/// active run, where each case has a capture of its own. Of a merged report: on any of the hosts.
[[nodiscard]] bool is_by_capture(const Results&);

/// The hosts on which it is so; of a run of one host, the empty name.
[[nodiscard]] std::set<std::string_view> hosts_by_capture(const Results&);

/// Why not all results of a host are there: its errors, and which shards are missing.
[[nodiscard]] std::vector<std::string> faults_of(const HostResult&);

/// Exit code of `check`, `run`, `audit` and `merge`: 3 an ERROR, a capture that could not be read to its end or a host
/// with a fault, 1 a FAIL or XPASS, or with `--strict` a finding that no text forbids, 5 an INCONC, 4 nothing judged
/// (on any of the hosts), else 0. WARN, NA and XFAIL never change it.
[[nodiscard]] int exit_code(const Results&);

/// "judged X of Y binding statements (M MUST, S stated); Z not judgeable here: reasons", for the head of every report.
/// Binding are the requirements of strength "must", M of them with a keyword in capitals; of those the selectors chose.
/// One whose evidence failed or whose judge did is counted apart, at the end. Of many hosts: what was judged on at
/// least one of them, and how many of them are in ERROR or judged nothing.
[[nodiscard]] std::string coverage_sentence(const Results&);

/// Whether it binds: its strength is "must".
[[nodiscard]] bool is_binding(const RequirementResult&);
/// What the reason means, in a few words: "no packet of this kind was seen".
[[nodiscard]] std::string_view meaning(NotJudged);

/// `--strict`: every WARN becomes a FAIL of type FAIL.SHOULD. Before `roll_up` and the baseline.
void apply_strict(Results&);

/// A requirement as the catalogue has it, in plain data.
struct RequirementMeta {
    std::string id, level, strength, section, statement;
    std::vector<std::string> implies;  ///< ids (same_as, part_of) that a verdict on this one is a verdict on as well
    NotJudged unjudged = NotJudged::tester;  ///< why it is NA when no result checks it
    std::string reason;                      ///< the same in words; may be empty
    std::string force = {}, status = {};     ///< as in RequirementResult
};

/// Fills `Results::requirements`, in the order of the catalogue: for each the first of FAIL, XPASS, ERROR, INCONC,
/// WARN, XFAIL, PASS among the results that judged it (an ERROR, INCONC or PASS only if it observed something); else
/// ERROR or INCONC if any; else NA. A result judges what it checks and all that this implies, also over several steps.
/// No verdict is worse than the requirement's strength: a FAIL that reaches a "should" is a WARN there (a FAIL after
/// `apply_strict`), one that reaches a "may" is a PASS with the reason.
/// `by` names the results that the verdict rests on, each once, the first thousand of them. Fills in the same way each
/// host's verdicts from the results of that host; what others judged and a host with a fault did not is an ERROR there.
void roll_up(Results&, std::span<const RequirementMeta> catalogue);

}  // namespace ipoib::reports
