// SPDX-License-Identifier: GPL-2.0-or-later
// Compares two runs by what they say about the DUT, not by how CI takes it: an XPASS is a pass.
#include "reports/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <tuple>

#include "base/one_line.hpp"
#include "reports/failure.hpp"
#include "reports/junit_suites.hpp"

namespace ipoib::reports {
namespace {

/// Longest value of a field that a line shows.
constexpr std::size_t longest_value = 400;

/// Host, id, capture, and which one of several with all in common.
using Key = std::tuple<std::string, std::string, std::string, std::size_t>;

struct Pair {
    const Result *before = nullptr, *after = nullptr;
    std::string host, capture;
};

enum class Change : std::uint8_t { worse, better, fresh, gone, same };

bool is_judged(const Result* result) { return result != nullptr && judged(*result); }

int badness(const Result& result) {
    switch (result.verdict) {
        case Verdict::xfail:
            return 1;
        case Verdict::warn:
            return 2;
        case Verdict::inconc:
            return 3;
        case Verdict::error:
            return 4;
        case Verdict::fail:
            return result.fail_type == "FAIL.CRASH" ? 6 : 5;
        default:
            return 0;
    }
}

Change change_of(const Pair& pair) {
    const bool was = is_judged(pair.before), is = is_judged(pair.after);
    if (!was && !is) return Change::same;
    if (!is) return Change::gone;
    if (!was) return badness(*pair.after) >= 4 ? Change::worse : Change::fresh;
    const auto before = badness(*pair.before), after = badness(*pair.after);
    return after > before ? Change::worse : after < before ? Change::better : Change::same;
}

std::string shown(const Result* result) {
    if (result == nullptr) return "absent";
    return judged(*result) ? verdict_name(*result) : std::string(name(Verdict::na));
}

/// Whether both runs know their revisions, and these differ: then the DUT may be what it was.
bool is_redefined(const Pair& pair) {
    if (pair.before == nullptr || pair.after == nullptr) return false;
    const auto &before = pair.before->revision, &after = pair.after->revision;
    return !before.empty() && !after.empty() && before != after;
}

std::string line_of(std::string_view change, const Pair& pair) {
    const auto& result = pair.after != nullptr ? *pair.after : *pair.before;
    auto line = fmt::format("{}: {} {} -> {}", change, one_line(result.id, longest_value), shown(pair.before),
                            shown(pair.after));
    if (!pair.host.empty()) line += " on " + one_line(pair.host, longest_value);
    if (!pair.capture.empty()) line += " in " + one_line(pair.capture, longest_value);
    if (is_redefined(pair)) line += fmt::format(" (the {} changed)", result.id.starts_with("RULE-") ? "rule" : "case");
    return result.title.empty() ? line : line + ": " + one_line(result.title, longest_value);
}

/// Results of both runs side by side, in the order of the second run, then of the first.
class Pairs {
public:
    Pairs(bool by_host, bool by_capture) : by_host_(by_host), by_capture_(by_capture) {}

    void add(const Results& run, const std::vector<Result>& results, const Result* Pair::*side) {
        std::map<std::tuple<std::string, std::string, std::string>, std::size_t> seen;
        for (const auto& result : results) {
            // A run of one host beside a merged report is that host's.
            const auto host = !by_host_ ? std::string{} : run.hosts.empty() ? run.host : result.host;
            const auto capture = by_capture_ ? capture_of(run, result) : std::string{};
            const auto [found, is_new] =
                index_.try_emplace(Key{host, result.id, capture, seen[{host, result.id, capture}]++}, pairs_.size());
            if (is_new) pairs_.push_back({nullptr, nullptr, host, capture});
            pairs_[found->second].*side = &result;
        }
    }
    [[nodiscard]] const std::vector<Pair>& all() const { return pairs_; }

private:
    static std::string capture_of(const Results& run, const Result& result) {
        if (result.capture >= run.captures.size()) return {};
        return std::filesystem::path(run.captures[result.capture].file).filename().string();
    }

    bool by_host_, by_capture_;
    std::map<Key, std::size_t> index_;
    std::vector<Pair> pairs_;
};

/// An ERROR for each host without all its results: what is gone there is no news, but that it is gone is.
std::vector<Result> lost_hosts(const Results& run) {
    auto lost = faults(run);
    std::erase_if(lost, [](const Result& fault) { return fault.host.empty() || fault.capture != no_capture; });
    return lost;
}

}  // namespace

Comparison compare(const Results& before, const Results& after) {
    const auto lost_before = lost_hosts(before), lost_after = lost_hosts(after);
    Pairs pairs(!before.hosts.empty() || !after.hosts.empty(), is_by_capture(before) || is_by_capture(after));
    pairs.add(after, lost_after, &Pair::after);
    pairs.add(after, after.results, &Pair::after);
    pairs.add(before, lost_before, &Pair::before);
    pairs.add(before, before.results, &Pair::before);
    constexpr std::array names{"worse", "better", "new", "gone"};
    std::array<std::vector<std::string>, names.size()> lines;
    std::array<std::size_t, names.size() + 1> counts{};
    std::size_t redefined = 0;
    for (const auto& pair : pairs.all()) {
        const auto change = static_cast<std::size_t>(change_of(pair));
        ++counts[change];
        const bool is_news = change <= static_cast<std::size_t>(Change::better);
        if (is_news && is_redefined(pair)) ++redefined;
        if (change < names.size()) lines[change].push_back(line_of(names[change], pair));
    }
    Comparison comparison{counts[0], counts[1], counts[2], counts[3], counts[4], redefined, {}};
    for (const auto& some : lines) comparison.lines.insert(comparison.lines.end(), some.begin(), some.end());
    auto sum = fmt::format("{} worse, {} better, {} new, {} gone, {} same", counts[0], counts[1], counts[2], counts[3],
                           counts[4]);
    if (redefined > 0) sum += fmt::format("; {} of the worse and better by a rule or case that changed", redefined);
    comparison.lines.push_back(std::move(sum));
    return comparison;
}

int exit_code(const Comparison& comparison) { return comparison.worse > 0 ? 1 : 0; }

}  // namespace ipoib::reports
