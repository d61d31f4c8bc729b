// SPDX-License-Identifier: GPL-2.0-or-later
// What a baseline does to results; baseline_toml.cpp reads and writes the file.
#include "reports/baseline.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/one_line.hpp"
#include "reports/failure.hpp"

namespace ipoib::reports {
namespace {

/// Whether an entry is about a verdict, and a FAIL of this type.
bool matches(const Expected& entry, Verdict verdict, std::string_view type) {
    const bool is_crash = type == "FAIL.CRASH";
    switch (verdict) {
        case Verdict::fail:
            if (entry.verdict == "FAIL") return !is_crash;
            if (entry.verdict == "FAIL.MUST") return type.empty() || type == "FAIL.MUST" || type == "FAIL.STATED";
            if (entry.verdict == "WARN") return type == "FAIL.SHOULD";
            return entry.verdict == type;
        case Verdict::warn:
            return entry.verdict == "WARN" || entry.verdict == "FAIL.SHOULD";
        case Verdict::inconc:
            return entry.verdict == "INCONC";
        default:
            return false;
    }
}

bool names(const Expected& entry, const std::string& requirement) {
    return std::ranges::find(entry.requirements, requirement) != entry.requirements.end();
}

/// The verdict on each check, also where all share the result's.
std::vector<PartVerdict> parts_of(const Result& result) {
    std::vector<PartVerdict> parts;
    for (const auto& id : result.checks) {
        const auto found = std::ranges::find(result.parts, id, &PartVerdict::id);
        parts.push_back(found == result.parts.end() ? PartVerdict{id, result.verdict, result.na, result.observed, {}}
                                                    : *found);
        if (parts.back().verdict == Verdict::fail && parts.back().fail_type.empty())
            parts.back().fail_type = result.fail_type;
    }
    return parts;
}

std::string joined(const std::vector<std::string>& ids) { return fmt::format("{}", fmt::join(ids, ", ")); }

using Fact = std::pair<std::string, std::string>;

/// The first fact that the DUT does not have as the entry wants it.
const Fact* missing_fact(const Expected& entry, const std::vector<Fact>& dut) {
    for (const auto& wanted : entry.when)
        if (std::find(dut.begin(), dut.end(), wanted) == dut.end()) return &wanted;
    return nullptr;
}

std::string about(const Expected& entry, const Baseline& baseline) {
    return fmt::format("{}:{}: {}", one_line(baseline.file), entry.line, one_line(entry.id));
}

std::string date(std::chrono::year_month_day day) {
    return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(day.year()), static_cast<unsigned>(day.month()),
                       static_cast<unsigned>(day.day()));
}

void excuse(Result& result, const Expected& entry) {
    result.notes.push_back("excused by the baseline: " + verdict_name(result));
    result.message = fmt::format("{} [{}]", message_of(result), entry.reason);
    for (auto& part : result.parts)
        if (part.verdict == result.verdict) part.verdict = Verdict::xfail;
    result.verdict = Verdict::xfail;
    result.fail_type.clear();
    result.reference = entry.reference.empty() ? entry.reason : entry.reference;
}

void contradict(Result& result, const Expected& entry, const Baseline& baseline) {
    result.message =
        fmt::format("passes, although {} is expected ({}); remove the entry", entry.verdict, about(entry, baseline));
    result.verdict = Verdict::xpass;
    for (auto& part : result.parts)
        if (part.verdict == Verdict::pass) part.verdict = Verdict::xpass;
    result.reference = entry.reference.empty() ? entry.reason : entry.reference;
}

/// An entry with the results of its id, and what became of it.
struct Application {
    const Expected* entry;
    std::vector<Result*> results;
    std::string note = {};  ///< why it had no effect, or too much
    std::vector<const Result*> excused = {};
    bool applies = true;
};

/// What entries with requirements excused of a result.
struct Excuse {
    const Expected* entry;
    std::vector<std::string> requirements;
};
using Excuses = std::map<Result*, std::vector<Excuse>>;

bool is_verdict_on_something(const Result* result) { return result->verdict != Verdict::na; }

/// Why an entry excused and contradicted nothing.
std::string without_effect(const Application& application) {
    const auto& results = application.results;
    if (results.empty()) return "did not occur in this run";
    const auto found = std::find_if(results.begin(), results.end(), is_verdict_on_something);
    if (found == results.end()) return "was not judged (NA)";
    const auto& entry = *application.entry;
    return fmt::format("{} is expected{}, the verdict is {}", entry.verdict,
                       entry.requirements.empty() ? "" : " of " + joined(entry.requirements), verdict_name(**found));
}

/// Leaves the results of the DUTs that the entry is about; what is missing where there is none.
const Fact* keep_applicable(Application& application, const Results& results) {
    const auto& entry = *application.entry;
    if (results.hosts.empty() || entry.when.empty()) return missing_fact(entry, results.dut);
    const Fact* missing = nullptr;
    std::set<std::string_view> hosts;
    for (const auto& host : results.hosts)
        if (const auto* fact = missing_fact(entry, host.dut))
            missing = fact;
        else
            hosts.insert(host.name);
    std::erase_if(application.results, [&](const Result* result) { return !hosts.contains(result->host); });
    return hosts.empty() ? missing : nullptr;
}

/// Marks what the entry excuses of the result's parts, or only looks.
std::vector<std::string> excused_parts(Result& result, const Expected& entry, bool marks) {
    std::vector<std::string> excused;
    auto parts = parts_of(result);
    for (auto& part : parts) {
        if (!names(entry, part.id) || !matches(entry, part.verdict, part.fail_type)) continue;
        excused.push_back(part.id);
        part.verdict = Verdict::xfail;
        part.fail_type.clear();
    }
    if (marks && !excused.empty()) result.parts = std::move(parts);
    return excused;
}

/// The worst that is left, and the requirements that it is of.
std::vector<std::string> take_worst_left(Result& result) {
    auto worst = Verdict::xfail;
    for (const auto& part : result.parts)
        if (part.verdict == Verdict::fail || part.verdict == Verdict::warn) worst = std::min(worst, part.verdict);
    result.verdict = worst;
    result.fail_type.clear();
    std::vector<std::string> left;
    for (const auto& part : result.parts)
        if (part.verdict == worst && worst != Verdict::xfail) left.push_back(part.id);
    for (const auto* type : {"FAIL.MUST", "FAIL.STATED", "FAIL.SHOULD"})
        if (worst == Verdict::fail && result.fail_type.empty() &&
            std::ranges::find(result.parts, type, &PartVerdict::fail_type) != result.parts.end())
            result.fail_type = type;
    return left;
}

/// What is told first is told of what is not excused.
void tell_of(const std::vector<std::string>& left, Result& result) {
    const auto is_of_left = [&](const Detail& detail) {
        return detail.requirements.empty() ||
               std::ranges::find_first_of(detail.requirements, left) != detail.requirements.end();
    };
    std::stable_partition(result.details.begin(), result.details.end(), is_of_left);
    result.frames.clear();
    for (const auto& detail : result.details)
        if (detail.frame > 0) result.frames.push_back(detail.frame);
    result.message = fmt::format("not excused: {}", joined(left));
    if (!result.details.empty() && is_of_left(result.details.front())) result.message += "; " + first_violation(result);
}

/// What is left of a result when some of its requirements are excused.
void settle(Result& result, const std::vector<Excuse>& excuses) {
    if (result.verdict == Verdict::xfail) return;
    const auto was = verdict_name(result), said = message_of(result);
    const auto left = take_worst_left(result);
    std::string reasons;
    for (const auto& [entry, requirements] : excuses) {
        reasons += (reasons.empty() ? "" : "; ") + entry->reason;
        result.notes.push_back(fmt::format("excused by the baseline: {} of {}{}", was, joined(requirements),
                                           left.empty() ? "" : " (" + entry->reason + ")"));
    }
    if (!left.empty()) return tell_of(left, result);
    const auto& first = *excuses.front().entry;
    result.message = fmt::format("{} [{}]", said, reasons);
    result.reference = first.reference.empty() ? first.reason : first.reference;
}

void apply_excuse(Application& application, const Baseline& baseline, const Results& results,
                  std::chrono::year_month_day today, Excuses& excuses) {
    const auto& entry = *application.entry;
    if (const auto* fact = keep_applicable(application, results); fact != nullptr) {
        application.applies = false;
        application.note =
            fmt::format("does not apply: the DUT's {} is not \"{}\"", one_line(fact->first), one_line(fact->second));
        return;
    }
    const bool expired = entry.expires && *entry.expires < today, is_whole = entry.requirements.empty();
    for (auto* result : application.results) {
        auto parts = is_whole ? std::vector<std::string>{} : excused_parts(*result, entry, !expired);
        if (is_whole ? !matches(entry, result->verdict, result->fail_type) : parts.empty()) continue;
        if (expired) {
            result->notes.push_back(
                fmt::format("the baseline excused this until {} ({})", date(*entry.expires), about(entry, baseline)));
            continue;
        }
        application.excused.push_back(result);
        if (is_whole)
            excuse(*result, entry);
        else
            excuses[result].push_back({&entry, std::move(parts)});
    }
    if (is_whole && !application.excused.empty() && entry.verdict != "FAIL.CRASH" && entry.verdict != "INCONC")
        application.note = "names no requirements, so it excuses whatever fails there";
    if (!expired) return;
    application.applies = false;
    application.note = "expired on " + date(*entry.expires);
}

void apply_contradiction(Application& application, const Baseline& baseline) {
    bool contradicted = false;
    for (auto* result : application.results) {
        if (result->verdict != Verdict::pass || !judged(*result)) continue;
        contradict(*result, *application.entry, baseline);
        contradicted = true;
    }
    if (!contradicted) application.note = without_effect(application);
}

/// The requirements of an entry that nothing excused in any of its results.
std::vector<std::string> never_excused(const Application& application, const Excuses& excuses) {
    const auto is_excused = [&](const std::string& id) {
        return std::ranges::any_of(application.results, [&](Result* result) {
            const auto found = excuses.find(result);
            return found != excuses.end() && std::ranges::any_of(found->second, [&](const Excuse& one) {
                       return std::ranges::find(one.requirements, id) != one.requirements.end();
                   });
        });
    };
    auto ids = application.entry->requirements;
    std::erase_if(ids, is_excused);
    return ids;
}

/// Marks those of the requirements that pass; whether any does.
bool contradict(Result& result, const std::vector<std::string>& gone, const Expected& entry, const Baseline& baseline) {
    auto parts = parts_of(result);
    std::vector<std::string> passing;
    for (auto& part : parts) {
        if (std::ranges::find(gone, part.id) == gone.end() || part.verdict != Verdict::pass || part.observed == 0)
            continue;
        part.verdict = Verdict::xpass;
        passing.push_back(part.id);
    }
    if (passing.empty()) return false;
    if (passing.size() == result.checks.size() && gone.size() == entry.requirements.size()) {
        contradict(result, entry, baseline);
        return true;
    }
    const bool is_one = passing.size() == 1;
    const auto said = fmt::format("{} pass{}, although {} is expected ({}); remove {} from the entry", joined(passing),
                                  is_one ? "es" : "", entry.verdict, about(entry, baseline), is_one ? "it" : "them");
    result.parts = std::move(parts);
    result.notes.push_back(said);
    if (result.verdict == Verdict::fail) return true;
    result.verdict = Verdict::xpass;
    result.message = said;
    result.reference = entry.reference.empty() ? entry.reason : entry.reference;
    return true;
}

/// The same for an entry with requirements: of those that nothing excused, the ones that pass.
void apply_contradictions(Application& application, const Baseline& baseline, const Excuses& excuses) {
    const auto gone = never_excused(application, excuses);
    bool contradicted = false;
    for (auto* result : application.results)
        contradicted = contradict(*result, gone, *application.entry, baseline) || contradicted;
    if (!contradicted && application.excused.empty()) application.note = without_effect(application);
}

}  // namespace

std::vector<std::string> apply(Results& results, const Baseline& baseline, std::chrono::year_month_day today) {
    std::map<std::string_view, std::vector<Result*>> by_id;
    for (auto& result : results.results) by_id[result.id].push_back(&result);
    std::vector<Application> applications;
    for (const auto& entry : baseline.expected) {
        const auto found = by_id.find(entry.id);
        applications.push_back({&entry, found == by_id.end() ? std::vector<Result*>{} : found->second});
    }
    Excuses excuses;
    for (auto& application : applications) apply_excuse(application, baseline, results, today, excuses);
    for (auto& [result, some] : excuses) settle(*result, some);
    std::set<const Result*> excused;
    for (const auto& application : applications) excused.insert(application.excused.begin(), application.excused.end());
    const auto is_excused = [&](const Result* result) { return excused.contains(result); };
    std::vector<std::string> notes;
    for (auto& application : applications) {
        if (application.applies && !application.entry->requirements.empty()) {
            apply_contradictions(application, baseline, excuses);
        } else if (application.applies && application.excused.empty()) {
            if (std::ranges::none_of(application.results, is_excused))
                apply_contradiction(application, baseline);
            else
                application.note = without_effect(application);
        }
        if (!application.note.empty())
            notes.push_back(fmt::format("{}: {}", about(*application.entry, baseline), application.note));
    }
    return notes;
}

}  // namespace ipoib::reports
