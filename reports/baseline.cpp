// SPDX-License-Identifier: GPL-2.0-or-later
// What a baseline does to results; baseline_toml.cpp reads and writes the file.
#include "reports/baseline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "reports/failure.hpp"
#include "reports/text.hpp"

namespace ipoib::reports {
namespace {

std::string one_line(std::string_view text) { return clipped(printable(text, Lines::join), 1000); }

bool matches(const Expected& entry, const Result& result) {
    const bool crash = result.fail_type == "FAIL.CRASH";
    switch (result.verdict) {
        case Verdict::fail:
            if (entry.verdict == "FAIL") return !crash;
            if (entry.verdict == "FAIL.MUST") return result.fail_type.empty() || result.fail_type == entry.verdict;
            if (entry.verdict == "WARN") return result.fail_type == "FAIL.SHOULD";
            return entry.verdict == result.fail_type;
        case Verdict::warn:
            return entry.verdict == "WARN" || entry.verdict == "FAIL.SHOULD";
        case Verdict::inconc:
            return entry.verdict == "INCONC";
        default:
            return false;
    }
}

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
    std::string note = {};  ///< why it had no effect
    std::vector<const Result*> excused = {};
    bool applies = true;
};

bool is_verdict_on_something(const Result* result) { return result->verdict != Verdict::na; }

/// Why an entry excused and contradicted nothing.
std::string without_effect(const Application& application) {
    const auto& results = application.results;
    if (results.empty()) return "did not occur in this run";
    const auto found = std::find_if(results.begin(), results.end(), is_verdict_on_something);
    if (found == results.end()) return "was not judged (NA)";
    return fmt::format("{} is expected, the verdict is {}", application.entry->verdict, verdict_name(**found));
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

void apply_excuse(Application& application, const Baseline& baseline, const Results& results,
                  std::chrono::year_month_day today) {
    const auto& entry = *application.entry;
    if (const auto* fact = keep_applicable(application, results); fact != nullptr) {
        application.applies = false;
        application.note =
            fmt::format("does not apply: the DUT's {} is not \"{}\"", one_line(fact->first), one_line(fact->second));
        return;
    }
    const bool expired = entry.expires && *entry.expires < today;
    for (auto* result : application.results) {
        if (!matches(entry, *result)) continue;
        if (!expired) application.excused.push_back(result);
        if (expired)
            result->notes.push_back(
                fmt::format("the baseline excused this until {} ({})", date(*entry.expires), about(entry, baseline)));
        else
            excuse(*result, entry);
    }
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

}  // namespace

std::vector<std::string> apply(Results& results, const Baseline& baseline, std::chrono::year_month_day today) {
    std::map<std::string_view, std::vector<Result*>> by_id;
    for (auto& result : results.results) by_id[result.id].push_back(&result);
    std::vector<Application> applications;
    for (const auto& entry : baseline.expected) {
        const auto found = by_id.find(entry.id);
        applications.push_back({&entry, found == by_id.end() ? std::vector<Result*>{} : found->second});
    }
    for (auto& application : applications) apply_excuse(application, baseline, results, today);
    std::set<const Result*> excused;
    for (const auto& application : applications) excused.insert(application.excused.begin(), application.excused.end());
    const auto is_excused = [&](const Result* result) { return excused.contains(result); };
    std::vector<std::string> notes;
    for (auto& application : applications) {
        if (application.applies && application.excused.empty()) {
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
