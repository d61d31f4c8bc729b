// SPDX-License-Identifier: GPL-2.0-or-later
// Groups results into suites and names them; the ids are those of the project's interfaces.
#include "reports/junit_suites.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/one_line.hpp"
#include "base/secret_hash.hpp"

namespace ipoib::reports {
namespace {

constexpr auto unreadable_id = "CAPTURE", lost_id = "HOST", finding_id = "FINDING";

/// The name, or where it is taken already the name with the next free number.
class Names {
public:
    std::string unique(const std::string& name) {
        auto candidate = name;
        while (!taken_.insert(candidate).second)
            candidate = fmt::format("{} #{}", name, next_.try_emplace(name, 2U).first->second++);
        return candidate;
    }

private:
    std::set<std::string> taken_;
    std::map<std::string, unsigned> next_;
};

bool is_number(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// "RFC4391" and "9.1.1" to "rfc4391.section-9-1-1". A dot would be a level of its own in the readers' trees.
std::string class_of(std::string_view document, std::string_view section) {
    const auto flat = [](std::string_view text) {
        std::string out;
        for (const char c : text) out += c == '.' ? '-' : c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
        return out;
    };
    auto name = (is_number(document) ? "rfc" : "") + flat(document);
    if (!section.empty()) name += ".section-" + flat(section);
    return document.empty() ? "ipoib" : one_line(name);
}

/// The class of a requirement: all between the first and the last hyphen is its section.
std::string class_of_requirement(std::string_view id) {
    const auto first = id.find('-'), last = id.rfind('-');
    return class_of(id.substr(0, first), first == last ? "" : id.substr(first + 1, last - first - 1));
}

std::vector<std::string_view> parts_of(std::string_view id) {
    std::vector<std::string_view> parts;
    while (true) {
        const auto end = id.find('-');
        parts.push_back(id.substr(0, end));
        if (end == std::string_view::npos) return parts;
        id.remove_prefix(end + 1);
    }
}

/// "RULE-RFC4391-6-02-suffix": a suffix looks like a number only to who does not know what the rule checks.
std::string class_of_rule(const Result& result) {
    const auto rest = std::string_view(result.id).substr(5);
    for (const auto& check : result.checks)
        if (rest == check || rest.starts_with(check + "-")) return class_of_requirement(check);
    const auto parts = parts_of(rest);
    return class_of(parts[0], parts.size() > 2 && is_number(parts[2]) ? parts[1] : "");
}

/// "IPOIB-4391-6-INV-001"; UDMC has no sections: "IPOIB-UDMC-VAL-001".
std::string class_of_case(const Result& result) {
    const auto parts = parts_of(result.id);
    return class_of(parts[1], parts.size() > 4 ? parts[2] : "");
}

/// What is of no capture of its own.
constexpr std::size_t none = no_capture;

/// Faults and results by host and, where captures were judged each by itself, by capture.
using Groups = std::map<std::pair<std::size_t, std::size_t>, std::vector<const Result*>>;

Groups groups_of(const Results& run, const std::vector<Result>& faults) {
    Groups groups;
    const auto apart = hosts_by_capture(run);
    const auto together = run.hosts.empty() ? 0 : none;
    std::unordered_map<std::string_view, std::size_t, SecretHash> hosts;
    for (const auto& host : run.hosts) hosts.emplace(host.name, hosts.size());
    for (const auto* some : {&faults, &run.results})
        for (const auto& result : *some) {
            const auto host = hosts.find(result.host);
            const bool is_apart = apart.contains(result.host) && result.capture < run.captures.size();
            groups[{host == hosts.end() ? 0 : host->second, is_apart ? result.capture : together}].push_back(&result);
        }
    for (std::size_t i = 0; i < std::max(run.hosts.size(), std::size_t{1}); ++i)
        if (const auto at = groups.lower_bound({i, 0}); at == groups.end() || at->first.first != i)
            groups[{i, together}];
    return groups;
}

Result error(std::string id, std::string title, std::string message) {
    Result result;
    result.id = std::move(id);
    result.title = std::move(title);
    result.verdict = Verdict::error;
    result.na = NotJudged::none;
    result.message = std::move(message);
    return result;
}

}  // namespace

Outcome outcome_of(Verdict verdict) {
    switch (verdict) {
        case Verdict::fail:
        case Verdict::xpass:
            return Outcome::failure;
        case Verdict::error:
        case Verdict::inconc:
            return Outcome::error;
        case Verdict::na:
        case Verdict::xfail:
            return Outcome::skipped;
        case Verdict::pass:
        case Verdict::warn:
            break;
    }
    return Outcome::passed;
}

std::size_t Suite::count(Outcome outcome) const {
    return static_cast<std::size_t>(std::count_if(
        cases.begin(), cases.end(), [&](const TestCase& one) { return outcome_of(one.result->verdict) == outcome; }));
}

double Suite::seconds() const {
    return std::accumulate(cases.begin(), cases.end(), 0.0, [](double sum, const TestCase& one) {
        const auto seconds = one.result->seconds;
        return sum + (std::isfinite(seconds) && seconds > 0 ? seconds : 0.0);
    });
}

std::string class_name(const Result& result) {
    const std::string_view id = result.id;
    if (id == unreadable_id) return "capture";
    if (id == lost_id) return "host";
    if (is_finding(result)) return "finding";
    if (id.starts_with("RULE-")) return class_of_rule(result);
    if (id.starts_with("IPOIB-")) return class_of_case(result);
    return result.checks.empty() ? "ipoib" : class_of_requirement(result.checks.front());
}

std::vector<Result> faults(const Results& run) {
    std::vector<Result> errors;
    for (const auto& host : run.hosts) {
        std::string message;
        for (const auto& fault : faults_of(host)) message += (message.empty() ? "" : "\n") + fault;
        if (message.empty()) continue;
        errors.push_back(error(lost_id, "The host's results are all there", std::move(message)));
        errors.back().capture = no_capture;
        errors.back().host = host.name;
    }
    for (std::size_t i = 0; i < run.captures.size(); ++i) {
        if (run.captures[i].error.empty()) continue;
        errors.push_back(error(unreadable_id, "The capture can be read to its end", run.captures[i].error));
        errors.back().capture = static_cast<std::uint32_t>(i);
        errors.back().host = run.captures[i].host;
    }
    return errors;
}

bool is_finding(const Result& result) { return result.id == finding_id && result.checks.empty(); }

std::vector<Result> cases_besides(const Results& run) {
    auto all = faults(run);
    for (const auto& one : run.beyond) {
        auto& result = all.emplace_back();
        result.id = finding_id;
        result.title = one.name + (one.link.empty() ? "" : ", link " + one.link);
        result.verdict = run.is_strict ? Verdict::fail : Verdict::pass;
        result.na = NotJudged::none;
        if (run.is_strict) result.fail_type = finding_id;
        result.message = one.text;
        result.observed = 1;
        result.frames = one.frames;
        result.capture = one.capture;
        result.host = one.host;
    }
    return all;
}

std::vector<Suite> suites_of(const Results& run, const std::vector<Result>& besides, const std::string& name) {
    const auto groups = groups_of(run, besides);
    std::vector<Suite> suites;
    Names suite_names, case_names;
    for (const auto& [indices, group] : groups) {
        const auto [host, capture] = indices;
        Suite suite;
        if (host < run.hosts.size()) suite.host = &run.hosts[host];
        if (capture < run.captures.size()) suite.capture = &run.captures[capture];
        std::string label = suite.host ? one_line(suite.host->name) : "";
        if (suite.capture && groups.size() > 1)
            label.append(label.empty() ? "" : " ").append(one_line(suite.capture->file));
        suite.name = suite_names.unique(label.empty() ? name : fmt::format("{} {}", name, label));
        for (const auto* result : group) {
            auto own = one_line(result->id + " " + result->title);
            if (!label.empty()) own += fmt::format(" [{}]", label);
            suite.cases.push_back({class_name(*result), case_names.unique(own), result});
        }
        suites.push_back(std::move(suite));
    }
    return suites;
}

}  // namespace ipoib::reports
