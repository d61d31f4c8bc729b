// SPDX-License-Identifier: GPL-2.0-or-later
// The names of verdicts and what follows from a whole run: exit code, coverage, what is missing.
#include "reports/results.hpp"

#include "base/one_line.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <set>
#include <system_error>

#include <fmt/format.h>

namespace ipoib::reports {
namespace {

constexpr std::array<std::string_view, 8> verdict_names{"FAIL", "XPASS", "ERROR", "INCONC",
                                                        "WARN", "XFAIL", "PASS",  "NA"};
constexpr std::array<std::string_view, 7> reason_names{"",       "profile",  "tester",    "link",
                                                       "safety", "not-seen", "inspection"};
/// What lies between numbers that are told in ascending order, from 1.
struct Gaps {
    std::string text = {};
    std::uint64_t missing = 0, next = 1;

    void until(std::uint64_t number) {
        if (number > next) {
            missing += number - next;
            text += fmt::format("{}{}", text.empty() ? "" : ", ", next);
            if (number - next > 1) text += fmt::format("{}{}", number - next > 2 ? " to " : ", ", number - 1);
        }
        next = number + 1;
    }
};

/// ", 2 of them without all results": how much of a fleet the sentence on coverage is about.
std::string told_of_hosts(const std::vector<HostResult>& hosts) {
    std::size_t faulty = 0, idle = 0;
    for (const auto& host : hosts) {
        if (!faults_of(host).empty())
            ++faulty;
        else if (host.verdict == Verdict::na)
            ++idle;
    }
    auto text = fmt::format("; on {} host{}", hosts.size(), hosts.size() == 1 ? "" : "s");
    if (faulty > 0) text += fmt::format(", {} of them without all results", faulty);
    if (idle > 0) text += fmt::format(", {} of them judged nothing", idle);
    return text;
}

/// "3 of 12 packets: what of them": a note that counts.
struct CountedNote {
    std::uint64_t count = 0;
    std::string_view rest;  ///< " packets: what of them"

    [[nodiscard]] std::string text(std::uint64_t of) const { return fmt::format("{} of {}{}", count, of, rest); }
};

std::optional<CountedNote> counted_note(std::string_view note) {
    constexpr std::string_view between = " of ";
    CountedNote counted;
    std::uint64_t all = 0;
    const auto* end = note.data() + note.size();
    const auto [of, wrong] = std::from_chars(note.data(), end, counted.count);
    if (wrong != std::errc{} || !std::string_view(of, end).starts_with(between)) return std::nullopt;
    const auto [rest, wrong_sum] = std::from_chars(of + between.size(), end, all);
    counted.rest = std::string_view(rest, end);
    if (wrong_sum != std::errc{} || !counted.rest.starts_with(' ')) return std::nullopt;
    return counted;
}

/// Adds a note that is not there; what counts the same is added up.
void add_note(std::vector<std::string>& notes, std::string&& note) {
    constexpr std::size_t most_notes = 100;
    if (const auto counted = counted_note(note))
        for (auto& known : notes)
            if (const auto same = counted_note(known); same && same->rest == counted->rest) {
                known = CountedNote{same->count + counted->count, same->rest}.text(0);
                return;
            }
    if (notes.size() < most_notes && std::ranges::find(notes, note) == notes.end()) notes.push_back(std::move(note));
}

bool saw_something(const Result& result) { return result.observed > 0 || result.violations > 0; }

}  // namespace

std::string_view name(Verdict verdict) { return verdict_names.at(static_cast<std::size_t>(verdict)); }

std::string_view name(NotJudged reason) { return reason_names.at(static_cast<std::size_t>(reason)); }

std::optional<Verdict> verdict_of(std::string_view name) {
    const auto found = std::find(verdict_names.begin(), verdict_names.end(), name);
    if (found == verdict_names.end()) return std::nullopt;
    return static_cast<Verdict>(found - verdict_names.begin());
}

std::optional<NotJudged> not_judged_of(std::string_view name) {
    const auto found = std::find(reason_names.begin() + 1, reason_names.end(), name);
    if (found == reason_names.end()) return std::nullopt;
    return static_cast<NotJudged>(found - reason_names.begin());
}

std::string called(const Results& results) {
    constexpr std::string_view us = "ipoib-conform";
    const auto version = std::string(us) + (results.suite.empty() ? "" : " " + one_line(results.suite));
    const bool is_ours = results.command.empty() || results.command.front() == us;
    std::string words;
    for (std::size_t i = is_ours ? 1 : 0; i < results.command.size(); ++i)
        words += (words.empty() ? "" : " ") + one_line(results.command[i]);
    if (!is_ours) return words + " (" + version + ")";
    return words.empty() ? version : version + " " + words;
}

bool judged(const Result& result) {
    switch (result.verdict) {
        case Verdict::na:
            return false;
        case Verdict::pass:
            return saw_something(result);
        default:
            return true;
    }
}

std::set<std::string_view> hosts_by_capture(const Results& results) {
    std::set<std::string_view> hosts;
    if (results.captures.size() < 2) return hosts;
    std::set<std::pair<std::string_view, std::string_view>> ids;
    for (const auto& result : results.results)
        if (!ids.insert({result.host, result.id}).second) hosts.insert(result.host);
    return hosts;
}

std::string repetitions_text(const Result& result) {
    unsigned all = 0;
    for (const auto& [verdict, count] : result.repetitions) all += count;
    if (all == 0) return {};
    const auto same = result.repetitions.find(result.verdict);
    return fmt::format("{} in {} of {} repetitions", name(result.verdict),
                       same == result.repetitions.end() ? 0 : same->second, all);
}

bool is_flaky(const Result& result) { return result.repetitions.size() > 1; }

bool is_worse(const Result& result, const Result& than) {
    if (result.verdict != than.verdict) return result.verdict < than.verdict;
    return result.fail_type == "FAIL.CRASH" && than.fail_type != "FAIL.CRASH";
}

void add_up(Result& sum, Result&& more) {
    if (sum.revision != more.revision) sum.revision.clear();
    constexpr std::size_t most_details = 100;
    if (sum.violations == 0 && more.violations > 0) {
        sum.evidence = more.evidence;
        sum.capture = more.capture;
        sum.repeat = more.repeat;
    }
    if (is_worse(more, sum)) {
        sum.verdict = more.verdict;
        sum.na = more.na;
        sum.fail_type = more.fail_type;
        sum.message = more.message;
        sum.reference = more.reference;
    }
    sum.observed += more.observed;
    sum.violations += more.violations;
    sum.seconds += more.seconds;
    if (sum.verdict == Verdict::pass && sum.message.starts_with("holds in "))
        sum.message = "holds in " + std::to_string(sum.observed) + (sum.observed == 1 ? " packet" : " packets");
    for (auto& detail : more.details) {
        if (sum.details.size() >= most_details) break;
        sum.frames.push_back(detail.frame);
        sum.details.push_back(std::move(detail));
    }
    if (const auto counted = counted_note(sum.message)) {
        auto rest = std::string(counted->rest);
        if (rest.starts_with(" packet;")) rest.insert(7, "s");
        sum.message = CountedNote{sum.violations, rest}.text(sum.observed);
    }
    for (auto& found : more.cases) sum.cases.push_back(std::move(found));
    for (auto& note : more.notes) add_note(sum.notes, std::move(note));
    for (auto& note : sum.notes)
        if (auto counted = counted_note(note)) note = counted->text(sum.observed);
}

bool is_by_capture(const Results& results) { return !hosts_by_capture(results).empty(); }

std::optional<Shard> shard_of(std::string_view text) {
    Shard shard;
    const auto* end = text.data() + text.size();
    const auto [slash, wrong] = std::from_chars(text.data(), end, shard.index);
    if (wrong != std::errc{} || slash == end || *slash != '/') return std::nullopt;
    const auto [rest, wrong_count] = std::from_chars(slash + 1, end, shard.count);
    if (wrong_count != std::errc{} || rest != end || shard.index < 1 || shard.index > shard.count) return std::nullopt;
    return shard;
}

std::vector<std::string> faults_of(const HostResult& host) {
    auto faults = host.errors;
    auto shards = host.shards;
    std::sort(shards.begin(), shards.end(),
              [](const Shard& a, const Shard& b) { return std::pair(a.count, a.index) < std::pair(b.count, b.index); });
    for (auto at = shards.begin(); at != shards.end();) {
        const auto count = at->count;
        Gaps gaps;
        for (; at != shards.end() && at->count == count; ++at) gaps.until(at->index);
        gaps.until(std::uint64_t{count} + 1);
        if (gaps.missing > 0)
            faults.push_back(fmt::format("shard{} {} of {} {} missing", gaps.missing == 1 ? "" : "s", gaps.text, count,
                                         gaps.missing == 1 ? "is" : "are"));
    }
    return faults;
}

int exit_code(const Results& results) {
    const auto any = [&](auto... verdict) {
        return std::any_of(results.results.begin(), results.results.end(),
                           [&](const Result& result) { return ((result.verdict == verdict) || ...); });
    };
    const bool is_lost = std::any_of(results.captures.begin(), results.captures.end(),
                                     [](const CaptureResult& capture) { return !capture.error.empty(); }) ||
                         std::any_of(results.hosts.begin(), results.hosts.end(),
                                     [](const HostResult& host) { return !faults_of(host).empty(); });
    if (is_lost || any(Verdict::error)) return 3;
    if (any(Verdict::fail, Verdict::xpass) || (results.is_strict && !results.beyond.empty())) return 1;
    if (any(Verdict::inconc)) return 5;
    std::set<std::string_view> hosts;
    for (const auto& result : results.results)
        if (judged(result)) hosts.insert(result.host);
    return hosts.empty() || hosts.size() < results.hosts.size() ? 4 : 0;
}

bool is_selected(const Results& results, const RequirementResult& requirement) {
    return !results.selected || std::ranges::find(*results.selected, requirement.id) != results.selected->end();
}

bool is_binding(const RequirementResult& requirement) {
    return requirement.strength.empty() ? requirement.level == "MUST" : requirement.strength == "must";
}

std::string_view meaning(NotJudged why) {
    constexpr std::array<std::string_view, reason_names.size()> meanings{
        "no reason is told",
        "it is not for an implementation of this kind",
        "the tester cannot bring it about or see it here",
        "this kind of capture or link cannot show it",
        "it would have been risky for others, and was not allowed",
        "nothing of the kind was seen",
        "no packet shows it; only a look at design or documents does"};
    return meanings.at(static_cast<std::size_t>(why));
}

std::string coverage_sentence(const Results& results) {
    std::size_t binding = 0, with_keyword = 0, known = 0, inconclusive = 0, error = 0, hidden = 0;
    std::array<std::size_t, reason_names.size()> reasons{};
    for (const auto& requirement : results.requirements) {
        if (!is_binding(requirement) || !is_selected(results, requirement)) continue;
        ++binding;
        with_keyword += requirement.force == "MUST";
        switch (requirement.verdict) {
            case Verdict::na:
                ++hidden;
                ++reasons[static_cast<std::size_t>(requirement.na)];
                break;
            case Verdict::inconc:
                ++inconclusive;
                break;
            case Verdict::error:
                ++error;
                break;
            default:
                ++known;
        }
    }
    auto sentence = fmt::format("judged {} of {} binding statements ({} MUST, {} stated); {} not judgeable here", known,
                                binding, with_keyword, binding - with_keyword, hidden);
    std::string_view before = ": ";
    for (std::size_t i = 1; i < reasons.size(); ++i)
        if (reasons[i] > 0)
            sentence += fmt::format("{}{} {}", std::exchange(before, ", "), reasons[i], reason_names[i]);
    if (reasons[0] > 0) sentence += fmt::format("{}{} without a reason", before, reasons[0]);
    if (inconclusive > 0) sentence += fmt::format("; {} inconclusive", inconclusive);
    if (error > 0) sentence += fmt::format("; {} in error", error);
    if (!results.hosts.empty()) sentence += told_of_hosts(results.hosts);
    return sentence;
}

void apply_strict(Results& results) {
    results.is_strict = true;
    for (auto& result : results.results)
        if (result.verdict == Verdict::warn) {
            result.verdict = Verdict::fail;
            result.fail_type = "FAIL.SHOULD";
        }
    for (auto& result : results.results)
        for (auto& part : result.parts)
            if (part.verdict == Verdict::warn) {
                part.verdict = Verdict::fail;
                part.fail_type = "FAIL.SHOULD";
            }
}

}  // namespace ipoib::reports
