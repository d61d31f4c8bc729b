// SPDX-License-Identifier: GPL-2.0-or-later
// A case and the rules judge the same frames: where one says that a requirement is violated and the other that it is
// kept, one of them is wrong, or the table says why both are right.
#include "conformance/selftest/selftest.hpp"

#include "base/temporary_folder.hpp"
#include "catch2.hpp"
#include "protocol/rules/rule.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

using namespace ipoib;
using namespace ipoib::conformance;
using reports::Result;
using reports::Verdict;

namespace {

enum class Accuser : std::uint8_t { one_case, rules };

/// One of the two says FAIL and the other PASS.
struct Disagreement {
    std::string requirement;
    Accuser accuser{};
    friend auto operator<=>(const Disagreement&, const Disagreement&) = default;
};

/// What one of the two says of each requirement, at worst.
class Verdicts {
public:
    /// Of the requirement, and of what is the same.
    void add(std::string_view id, Verdict verdict) {
        const auto* requirement = requirements::find(id);
        if (verdict == Verdict::na || !requirement) return;
        worsen(id, verdict);
        for (const auto same : requirement->same_as) worsen(same, verdict);
        if (verdict != Verdict::fail) return;
        for (const auto implied : requirements::closure(*requirement)) violated_.insert(implied);
    }
    /// Of a case, whose steps are on requirements of their own.
    void add_parts(const Result& result) {
        if (result.parts.empty() && result.fail_type != "FAIL.CRASH") add_checks(result);
        for (const auto& part : result.parts) add(part.id, part.verdict);
    }
    void add_checks(const Result& result) {
        for (const auto& id : result.checks) add(id, result.verdict);
    }
    /// What is said to be violated here, and there to be kept. What is violated in a part is not kept.
    void add_against(const Verdicts& other, Accuser accuser, std::set<Disagreement>& found) const {
        for (const auto& [id, verdict] : worst_) {
            const auto there = other.worst_.find(id);
            if (verdict == Verdict::fail && there != other.worst_.end() && there->second == Verdict::pass &&
                !other.violated_.contains(id))
                found.insert({id, accuser});
        }
    }

private:
    void worsen(std::string_view id, Verdict verdict) {
        const auto [at, is_new] = worst_.try_emplace(std::string(id), verdict);
        if (!is_new) at->second = std::min(at->second, verdict);
    }
    std::map<std::string, Verdict, std::less<>> worst_;
    std::set<std::string_view> violated_;  ///< also since a part of it is
};

std::set<Disagreement> disagreements(const Result& of_case, const std::vector<Result>& of_rules) {
    Verdicts by_case, by_rules;
    by_case.add_parts(of_case);
    for (const auto& rule : of_rules) by_rules.add_checks(rule);
    std::set<Disagreement> found;
    by_case.add_against(by_rules, Accuser::one_case, found);
    by_rules.add_against(by_case, Accuser::rules, found);
    return found;
}

/// As `ipoib-conform check` judges the evidence of a case.
std::vector<Result> check_frames(const Case& one, const Recorder& recorder) {
    static const auto rules = rules::every();
    Judge judge{rules, 0, {}, {.is_whole = recorder.is_whole()}};
    recorder.show(judge, one.subject == Subject::sa ? Party::sa : Party::dut);
    judge.finish();
    return judge.results();
}

/// Why both are right.
struct Explained {
    Accuser accuser;
    std::string_view requirement, reason;
    std::vector<std::string_view> cases;  ///< ids without "IPOIB-"
};

constexpr std::string_view absence = "the rules judge what a node has sent, the case what it should have sent",
                           received = "what a node takes, or hands to a program, is not in what it sends",
                           known = "the case knows what it asked, told or set up, which no frame shows to the rules",
                           handover = "after a change the rules take what was right before for a while",
                           other_part = "the rules judge another part of the statement",
                           beyond_router = "what was sent to one server may be of a client beyond a router",
                           path = "a node may have learnt a path elsewhere; the case has seen to it that it has not";

const std::vector<Explained>& explained() {
    using enum Accuser;
    static const std::vector<Explained> all{
        {one_case, "RFC4390-2.1-02", beyond_router, {"4390-2.2-VAL-001"}},
        {one_case, "RFC4390-2.1-04", beyond_router, {"4390-2.2-VAL-001"}},
        {one_case, "RFC4390-2.1-05", known, {"4390-2.1-VAL-001", "4390-2.2-VAL-001"}},
        {one_case, "RFC4391-2-01", received, {"4391-2-VAL-001", "4391-2-VAL-002", "4391-2-VAL-005"}},
        {one_case, "RFC4391-2-01", known, {"4391-5-VAL-012"}},
        {one_case, "RFC4391-3-01", received, {"4391-3-INV-001"}},
        {one_case, "RFC4391-3-01", known, {"4391-5-VAL-009"}},
        {one_case, "RFC4391-4-01", known, {"4391-4-VAL-003"}},
        {one_case, "RFC4391-4-03", known, {"4391-4-VAL-003"}},
        {one_case, "RFC4391-4-11", known, {"4391-4-VAL-003"}},
        {one_case, "RFC4391-4.1-09", other_part, {"4391-9.1.2-VAL-004"}},
        {one_case,
         "RFC4391-5-02",
         absence,
         {"4391-5-INV-002", "4391-5-INV-006", "4391-5-VAL-007", "4391-5-VAL-008", "4391-5-VAL-009", "4391-5-VAL-010",
          "4391-5-VAL-011", "4391-5-VAL-012", "4391-5-VAL-013", "4391-5-VAL-014", "4391-9.1.1-VAL-007"}},
        {one_case, "RFC4391-5-03", other_part, {"4391-5-VAL-002", "4391-5-VAL-006", "4391-7-VAL-002"}},
        {one_case, "RFC4391-5-04", received, {"4391-2-VAL-002"}},
        {one_case, "RFC4391-5-04", known, {"4391-5-VAL-005"}},
        {one_case, "RFC4391-7-04", received, {"4391-7-VAL-001"}},
        {one_case, "RFC4391-9-01", absence, {"4391-9.2-VAL-002", "4391-9.2-VAL-003"}},
        {one_case, "RFC4391-9-01", known, {"4391-9-VAL-001"}},
        {one_case, "RFC4391-9-02", known, {"4391-9-VAL-001"}},
        {one_case, "RFC4391-9-02", absence, {"4391-9.3-VAL-002"}},
        {one_case, "RFC4391-9.1-06", absence, {"4391-9.1.2-VAL-002"}},
        {one_case, "RFC4391-9.1.1-01", known, {"4391-9.1.1-VAL-002", "4391-9.1.1-VAL-004"}},
        {one_case, "RFC4391-9.1.1-04", handover, {"4391-9.1.1-VAL-003", "4391-9.1.1-VAL-005", "4391-9.1.1-VAL-006"}},
        {one_case, "RFC4391-9.1.1-07", known, {"4391-9.1.1-VAL-002"}},
        {one_case,
         "RFC4391-9.1.2-01",
         path,
         {"4391-9.1.1-VAL-007", "4391-9.1.2-VAL-005", "4391-9.1.2-VAL-006", "4391-9.1.2-VAL-009"}},
        {one_case, "RFC4391-9.3-04", known, {"4391-9.3-VAL-001"}},
        {one_case, "RFC4391-10-02", absence, {"4391-10-VAL-024", "4391-10-VAL-025"}},
        {one_case, "RFC4391-10-03", handover, {"4391-10-VAL-019"}},
        {one_case, "RFC4391-10-08", handover, {"4391-10-VAL-001"}},
        {one_case, "RFC4391-10-08", absence, {"4391-10-VAL-027"}},
        {one_case, "RFC4391-10-12", absence, {"4391-10-VAL-017"}},
        {one_case, "RFC4391-10-15", absence, {"4391-5-VAL-012", "4391-5-VAL-013"}},
        {one_case, "RFC4391-11-04", absence, {"4391-11-VAL-002", "4391-11-VAL-005"}},
        {one_case, "RFC4392-1.2.1.2-03", known, {"4392-1.2.1.2-VAL-001"}},
        {one_case, "RFC4392-4.2.2-01", absence, {"4391-5-VAL-012", "4391-5-VAL-013"}},
        {one_case, "RFC4392-4.2.3-01", absence, {"4391-11-VAL-002", "4391-11-VAL-005"}},
        {one_case, "RFC4392-4.2.5-02", known, {"4392-4.2.5-INV-001"}},
        {one_case, "UDMC-02", received, {"UDMC-INV-001"}},
        {one_case, "UDMC-04", handover, {"4391-10-VAL-019"}},
        {rules, "RFC4391-4-08", "with IPv4's signature it is an IPv4 group to the rules", {"4391-4-VAL-003"}},
        {rules, "RFC4391-10-01", "the case has failed before it judges that in IPv6", {"4391-10-VAL-001"}},
        {rules, "RFC4391-10-02", "the case has failed before it judges that in IPv6", {"4391-10-VAL-001"}},
        {rules, "RFC4755-6-01", "the case judges that such private data are taken", {"4755-6-INV-002"}},
    };
    return all;
}

const Explained* explanation(Accuser accuser, std::string_view requirement, std::string_view case_id) {
    const auto found = std::ranges::find_if(explained(), [&](const Explained& one) {
        return one.accuser == accuser && one.requirement == requirement &&
               std::ranges::any_of(one.cases, [&](auto id) { return case_id == "IPOIB-" + std::string(id); });
    });
    return found == explained().end() ? nullptr : &*found;
}

/// "case RFC4391-9-01 IPOIB-4391-9-VAL-001": how an explanation is used; what is not explained has more words.
std::string line_of(const Disagreement& one, const Mutant* mutant, const Case& running) {
    auto text =
        (one.accuser == Accuser::one_case ? "case " : "rules ") + one.requirement + ' ' + std::string(running.id);
    if (!explanation(one.accuser, one.requirement, running.id))
        text += ": FAIL there alone, by " + std::string(mutant ? mutant->name : "the reference");
    return text;
}

/// Some of the mutants and permitted ways, by the seed, and every one.
struct Extent {
    std::size_t one_of = 1, seed = 0;
};

/// The lines of those whose turn is `worker` of `workers`; the first tries the reference, too.
std::set<std::string> lines_of(const Extent& extent, std::size_t worker, std::size_t workers) {
    std::set<std::string> lines;
    SelftestRun run{.is_full = true, .cases = all_cases()};
    run.has_references = worker == 0;
    run.takes = [&](const Mutant& mutant) {
        const auto number = static_cast<std::size_t>(std::ranges::find(all_mutants(), &mutant) - all_mutants().begin());
        return (number + extent.seed) % extent.one_of == 0 && number / extent.one_of % workers == worker;
    };
    run.witness = [&](const Mutant* mutant, const Case& one, const Recorder& recorder, const Result& result) {
        for (const auto& found : disagreements(result, check_frames(one, recorder))) {
            // A case that a mutant spares takes a way that the fault does not touch; selftest demands that it passes.
            const bool is_spared = found.accuser == Accuser::rules && mutant &&
                                   std::ranges::find(mutant->spares, one.id) != mutant->spares.end();
            if (!is_spared) lines.insert(line_of(found, mutant, one));
        }
    };
    static_cast<void>(selftest(run));
    return lines;
}

/// The same of all, by a process for each processor.
std::set<std::string> lines_of(const Extent& extent) {
    const std::size_t workers = std::max(1u, std::thread::hardware_concurrency());
    const TemporaryFolder folder;
    std::vector<pid_t> processes;
    for (std::size_t worker = 0; worker < workers; ++worker) {
        const auto process = ::fork();
        REQUIRE(process >= 0);
        if (process != 0) {
            processes.push_back(process);
            continue;
        }
        std::ofstream file{folder / std::to_string(worker)};
        for (const auto& line : lines_of(extent, worker, workers)) file << line << '\n';
        file.flush();
        ::_exit(file.good() ? 0 : 1);
    }
    std::set<std::string> lines;
    for (std::size_t worker = 0; worker < workers; ++worker) {
        int status = -1;
        REQUIRE(::waitpid(processes[worker], &status, 0) == processes[worker]);
        REQUIRE(status == 0);
        std::ifstream file{folder / std::to_string(worker)};
        for (std::string line; std::getline(file, line);) lines.insert(line);
    }
    return lines;
}

bool is_unexplained(const std::string& line) { return line.find(':') != std::string::npos; }

Result result_of(Verdict verdict, std::vector<std::string> checks, std::vector<reports::PartVerdict> parts = {}) {
    Result result{.id = "a test's own", .title = "", .verdict = verdict};
    result.checks = std::move(checks);
    result.parts = std::move(parts);
    return result;
}

}  // namespace

TEST_CASE("Judges: one accuses of what the other says is kept, in either direction") {
    const auto kept = result_of(Verdict::pass, {"RFC4391-6-02"}), broken = result_of(Verdict::fail, {"RFC4391-6-02"});
    CHECK(disagreements(broken, {kept}) == std::set<Disagreement>{{"RFC4391-6-02", Accuser::one_case}});
    CHECK(disagreements(kept, {kept, broken}) == std::set<Disagreement>{{"RFC4391-6-02", Accuser::rules}});
    CHECK(disagreements(broken, {kept, broken}).empty());
    CHECK(disagreements(kept, {kept}).empty());
    for (const auto verdict : {Verdict::na, Verdict::inconc, Verdict::warn})
        CHECK(disagreements(broken, {result_of(verdict, {"RFC4391-6-02"})}).empty());
}

TEST_CASE("Judges: a case says of each requirement what its steps have found") {
    const auto one = result_of(Verdict::fail, {"RFC4391-6-02", "RFC4391-4-01"},
                               {{"RFC4391-6-02", Verdict::fail, {}, 1}, {"RFC4391-4-01", Verdict::pass, {}, 1}});
    const auto kept = result_of(Verdict::pass, {"RFC4391-4-01", "RFC4391-6-02"});
    CHECK(disagreements(one, {kept}) == std::set<Disagreement>{{"RFC4391-6-02", Accuser::one_case}});
}

TEST_CASE("Judges: the same statement counts, and what is violated in a part is not said to be kept") {
    const auto mlid = result_of(Verdict::fail, {"RFC4391-10-03"}), same = result_of(Verdict::pass, {"UDMC-04"});
    CHECK(disagreements(mlid, {same}).size() == 2);
    const auto whole = result_of(Verdict::fail, {"RFC4391-4.1-09"}),
               part = result_of(Verdict::fail, {"RFC4391-4.1-05"});
    CHECK(disagreements(whole, {result_of(Verdict::pass, {"RFC4391-4.1-09"}), part}).empty());
    CHECK(disagreements(part, {result_of(Verdict::pass, {"RFC4391-4.1-09"})}).empty());
}

TEST_CASE("Judges: what is explained is of the catalogue, once, and has a reason") {
    std::set<std::string> seen;
    for (const auto& one : explained()) {
        INFO(one.requirement);
        CHECK(requirements::find(one.requirement) != nullptr);
        CHECK_FALSE(one.reason.empty());
        for (const auto id : one.cases) {
            CHECK(find_case("IPOIB-" + std::string(id)) != nullptr);
            CHECK(seen.insert(std::to_string(static_cast<int>(one.accuser)) + std::string(one.requirement) +
                              std::string(id))
                      .second);
        }
    }
}

TEST_CASE("Judges: cases and rules agree on the frames of a sample of nodes", "[breadth]") {
    const auto* const seed = std::getenv("IPOIB_SAMPLE_SEED");
    const Extent some{.one_of = 7, .seed = seed ? std::strtoull(seed, nullptr, 10) : 1};
    for (const auto& line : lines_of(some)) {
        INFO(line);
        CHECK_FALSE(is_unexplained(line));
    }
}

TEST_CASE("Judges: cases and rules agree on the frames of every node, and each explanation is needed",
          "[.][everywhere]") {
    auto lines = lines_of({});
    for (const auto& line : lines) {
        INFO(line);
        CHECK_FALSE(is_unexplained(line));
    }
    for (const auto& one : explained())
        for (const auto id : one.cases) {
            const auto line = (one.accuser == Accuser::one_case ? "case " : "rules ") + std::string(one.requirement) +
                              " IPOIB-" + std::string(id);
            INFO("no longer occurs: " << line);
            CHECK(lines.contains(line));
        }
}
