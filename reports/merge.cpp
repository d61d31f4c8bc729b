// SPDX-License-Identifier: GPL-2.0-or-later
// Joins results so that nothing is counted twice, and nothing that is missing goes unnoticed.
#include "reports/merge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/one_line.hpp"
#include "reports/failure.hpp"

namespace ipoib::reports {
namespace {

/// Longest value of a field that a line shows.
constexpr std::size_t longest_value = 400;
/// Of as many suites as differ.
constexpr std::size_t most_proofs = 30;

using Facts = std::vector<std::pair<std::string, std::string>>;

void add_once(std::vector<std::string>& texts, std::string text) {
    if (std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(std::move(text));
}

/// The shards that a command line asks for.
std::vector<Shard> shards_in(const std::vector<std::string>& command) {
    constexpr std::string_view option = "--shard", with_value = "--shard=";
    std::vector<Shard> shards;
    for (std::size_t i = 0; i < command.size(); ++i) {
        std::optional<Shard> shard;
        if (command[i] == option && i + 1 < command.size()) shard = shard_of(command[i + 1]);
        if (command[i].starts_with(with_value))
            shard = shard_of(std::string_view(command[i]).substr(with_value.size()));
        if (shard) shards.push_back(*shard);
    }
    return shards;
}

/// "guid 2, not 1": the first fact that is another one.
std::string difference(const Facts& known, const Facts& other) {
    for (const auto& fact : other) {
        const auto found = std::ranges::find(known, fact.first, &Facts::value_type::first);
        if (found != known.end() && found->second != fact.second)
            return fmt::format("{} {}, not {}", one_line(fact.first, longest_value),
                               one_line(fact.second, longest_value), one_line(found->second, longest_value));
    }
    return {};
}

/// Keeps of `common` what `facts` has, too.
void keep_common(std::optional<Facts>& common, const Facts& facts) {
    if (facts.empty()) return;
    if (!common) {
        common = facts;
        return;
    }
    std::erase_if(*common,
                  [&](const auto& fact) { return std::find(facts.begin(), facts.end(), fact) == facts.end(); });
}

bool is_case(const Result& result) { return result.id.starts_with("IPOIB-"); }

void take_worst(Result& into, Result&& again, std::string_view source) {
    auto notes = into.notes;
    if (is_worse(again, into)) {
        add_once(notes, fmt::format("run more than once, the worst counts; {} in another file", verdict_name(into)));
        for (auto& note : again.notes) add_once(notes, std::move(note));
        into = std::move(again);
    } else {
        add_once(notes, fmt::format("run more than once, the worst counts; {} in {}", verdict_name(again), source));
    }
    into.notes = std::move(notes);
}

}  // namespace

HostResult& Merger::host_of(const std::string& name) {
    const auto [found, is_new] = hosts_.try_emplace(name, merged_.hosts.size());
    if (is_new) merged_.hosts.push_back({.name = name});
    return merged_.hosts[found->second];
}

void Merger::fault(const std::string& host, const std::string& why) { add_once(host_of(host).errors, why); }

void Merger::take_head(HostResult& into, HostResult&& from, std::string_view source) {
    for (auto& error : from.errors) add_once(into.errors, std::move(error));
    for (auto& note : from.notes) add_once(into.notes, std::move(note));
    for (const auto& shard : from.shards)
        if (std::find(into.shards.begin(), into.shards.end(), shard) == into.shards.end()) into.shards.push_back(shard);
    into.seconds += from.seconds;
    // A host of which nothing but a fault is known has no facts to differ from.
    if (into.suite.empty()) {
        into.suite = std::move(from.suite);
        into.seed = from.seed;
    } else if (!from.suite.empty() && from.suite != into.suite) {
        add_once(into.notes, fmt::format("{} is of ipoib-conform {}, not {}", source,
                                         one_line(from.suite, longest_value), one_line(into.suite, longest_value)));
    }
    if (into.command.empty()) into.command = std::move(from.command);
    if (into.started.empty() || (!from.started.empty() && from.started < into.started))
        into.started = std::move(from.started);
    for (const auto facts : {&HostResult::dut, &HostResult::fabric}) {
        if ((into.*facts).empty()) into.*facts = from.*facts;
        if (const auto what = difference(into.*facts, from.*facts); !what.empty())
            add_once(into.notes, fmt::format("{} is of another {}: {}", source,
                                             facts == &HostResult::dut ? "DUT" : "fabric", what));
    }
}

void Merger::take_results(Results&& run, std::string_view source) {
    const auto first_capture = static_cast<std::uint32_t>(merged_.captures.size());
    const auto first_result = merged_.results.size();
    const auto moved = [&](std::uint32_t capture) {
        return capture < run.captures.size() ? capture + first_capture : no_capture;
    };
    std::set<std::string_view> active;  // hosts whose captures are the evidence of cases
    for (const auto& result : run.results)
        if (!result.evidence.empty()) active.insert(result.host);
    const auto key_of = [&](const Result& result) {
        const bool is_of_capture = !active.contains(result.host) && result.capture < run.captures.size();
        return Key{result.host, result.id, is_of_capture ? run.captures[result.capture].file : std::string{}};
    };
    std::vector<Key> keys;
    keys.reserve(run.results.size());
    for (const auto& result : run.results) keys.push_back(key_of(result));
    for (std::size_t i = 0; i < keys.size(); ++i) {
        auto& result = run.results[i];
        result.capture = moved(result.capture);
        for (auto& detail : result.details) detail.capture = moved(detail.capture);
        const auto [found, is_new] = results_.try_emplace(std::move(keys[i]), merged_.results.size());
        // What one file has twice, it means twice.
        if (is_new || found->second >= first_result)
            merged_.results.push_back(std::move(result));
        else if (is_case(result))
            take_worst(merged_.results[found->second], std::move(result), source);
        else
            add_up(merged_.results[found->second], std::move(result));
    }
    for (auto& one : run.beyond) one.capture = moved(one.capture);
    std::move(run.beyond.begin(), run.beyond.end(), std::back_inserter(merged_.beyond));
    for (auto& one : run.suspicions)
        for (auto& detail : one.details) detail.capture = moved(detail.capture);
    std::move(run.suspicions.begin(), run.suspicions.end(), std::back_inserter(merged_.suspicions));
    std::move(run.captures.begin(), run.captures.end(), std::back_inserter(merged_.captures));
}

/// Of runs with selectors: what any of them chose.
void Merger::take_selection(const Results& run) {
    auto& selected = merged_.selected;
    if (!std::exchange(has_selection_, true))
        selected = run.selected;
    else if (!run.selected)
        selected.reset();
    else if (selected)
        for (const auto& id : *run.selected) add_once(*selected, id);
}

/// Of claims what all have in common that have any; of the suites that judged each proof once.
void Merger::take_grounds(Results& run) {
    keep_common(claims_, run.claims);
    for (auto& proof : run.proofs)
        if (std::ranges::find(merged_.proofs, proof) == merged_.proofs.end() && merged_.proofs.size() < most_proofs)
            merged_.proofs.push_back(std::move(proof));
}

std::string Merger::add(const std::string& host, Results&& run, std::string_view source) {
    const auto from = one_line(source, longest_value);
    if (!run.hosts.empty()) {
        if (!host.empty() && (run.hosts.size() > 1 || run.hosts.front().name != host))
            return fmt::format("{} is a merged report of {} host{}; it has names of its own", from, run.hosts.size(),
                               run.hosts.size() == 1 ? "" : "s");
        for (auto& one : run.hosts) {
            auto& into = host_of(one.name);
            take_head(into, std::move(one), from);
        }
        take_selection(run);
        take_grounds(run);
        take_results(std::move(run), from);
        return {};
    }
    const auto name = host.empty() ? run.host : host;
    if (name.empty()) return fmt::format("{} names no host; HOST={} does", from, from);
    take_selection(run);
    take_grounds(run);
    take_head(host_of(name),
              {.name = name,
               .suite = std::move(run.suite),
               .command = run.command,
               .seed = run.seed,
               .started = std::move(run.started),
               .seconds = run.seconds,
               .fabric = std::move(run.fabric),
               .dut = std::move(run.dut),
               .shards = shards_in(run.command),
               .errors = {},
               .notes = {}},
              from);
    for (auto& result : run.results) result.host = name;
    for (auto& capture : run.captures) capture.host = name;
    for (auto& one : run.beyond) one.host = name;
    for (auto& one : run.suspicions) one.host = name;
    take_results(std::move(run), from);
    return {};
}

Results Merger::results(std::string_view suite) {
    std::optional<Facts> fabric, dut;
    for (auto& host : merged_.hosts) {
        keep_common(fabric, host.fabric);
        keep_common(dut, host.dut);
        merged_.seconds += host.seconds;
        if (!host.suite.empty() && host.suite != suite)
            add_once(host.notes, fmt::format("judged by ipoib-conform {}, merged by {}",
                                             one_line(host.suite, longest_value), suite));
    }
    merged_.fabric = std::move(fabric).value_or(Facts{});
    merged_.claims = std::move(claims_).value_or(Facts{});
    merged_.dut = std::move(dut).value_or(Facts{});
    return std::move(merged_);
}

}  // namespace ipoib::reports
