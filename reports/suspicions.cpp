// SPDX-License-Identifier: GPL-2.0-or-later
// Groups of suspicions, and their sentences.
#include "reports/suspicions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <tuple>

#include "base/one_line.hpp"

namespace ipoib::reports {
namespace {

constexpr std::size_t frames_told = 3, longest_told = 400;

std::string told(std::string_view text) { return one_line(text, longest_told); }

std::string frame_line(const Suspicion& suspicion, const Detail& detail) {
    return fmt::format("frame {}: {}, {}: {}{}, expected {}", detail.frame,
                       suspicion.checks.empty() ? told(suspicion.rule) : told(suspicion.checks.front()),
                       told(suspicion.title), detail.field.empty() ? "" : told(detail.field) + " is ",
                       told(detail.actual), told(detail.expected));
}

SuspicionGroup group_of(const std::vector<const Suspicion*>& all, std::span<const CaptureResult> captures) {
    const auto& first = *all.front();
    const auto& at = first.details.front();
    SuspicionGroup group;
    // What takes more to be vouched for decides the others, too.
    const auto& longest = **std::ranges::max_element(all, {}, [](const auto* one) { return one->assume.size(); });
    group.assume = longest.assume;
    group.command = longest.command;
    group.settled_by = told(first.settled_by);
    std::set<std::uint64_t> frames;
    std::uint64_t lines = 0;
    for (const auto* one : all) {
        lines += one->count;
        group.count += one->count - std::min<std::uint64_t>(one->count, one->details.size());
        for (const auto& detail : one->details) {
            frames.insert(detail.frame);
            if (group.frames.size() < frames_told) group.frames.push_back(frame_line(*one, detail));
        }
    }
    group.count += frames.size();
    if (lines > group.frames.size()) group.frames.push_back(fmt::format("and {} more", lines - group.frames.size()));
    group.head = fmt::format("{}: {} frame{} of {}{}, one doubt", told(first.doubt), group.count,
                             group.count == 1 ? "" : "s", at.subject.empty() ? "an unknown port" : told(at.subject),
                             at.link.empty() ? "" : " on " + told(at.link));
    if (captures.size() > 1 && at.capture < captures.size()) group.head += " in " + told(captures[at.capture].file);
    if (!first.host.empty()) group.head += " at " + told(first.host);
    group.innocent = fmt::format("innocent if {}: {}", told(first.supposes), told(first.lacks));
    return group;
}

}  // namespace

std::vector<SuspicionGroup> groups_of(std::span<const Suspicion> suspicions, std::span<const CaptureResult> captures) {
    using Key = std::tuple<std::string_view, std::uint32_t, std::string_view, std::string_view, std::string_view>;
    std::map<Key, std::size_t> places;
    std::vector<std::vector<const Suspicion*>> all;
    for (const auto& one : suspicions) {
        if (one.details.empty()) continue;
        const auto& at = one.details.front();
        const auto [place, is_new] =
            places.try_emplace({one.host, at.capture, one.doubt, at.subject, at.link}, all.size());
        if (is_new) all.emplace_back();
        all[place->second].push_back(&one);
    }
    std::vector<SuspicionGroup> groups;
    groups.reserve(all.size());
    for (const auto& same : all) groups.push_back(group_of(same, captures));
    std::ranges::stable_sort(groups, std::greater{}, &SuspicionGroup::count);
    return groups;
}

std::string rest_of(std::span<const SuspicionGroup> groups) {
    if (groups.size() <= suspicions_shown) return {};
    std::uint64_t frames = 0;
    for (const auto& one : groups.subspan(suspicions_shown)) frames += one.count;
    const auto more = groups.size() - suspicions_shown;
    return fmt::format("{} more doubt{} about {} frame{}", more, more == 1 ? "" : "s", frames, frames == 1 ? "" : "s");
}

bool is_suspicion(const Results& results, const Result& result) {
    return result.verdict == Verdict::inconc && std::ranges::any_of(results.suspicions, [&](const Suspicion& one) {
               return one.rule == result.id && one.host == result.host && !one.details.empty();
           });
}

}  // namespace ipoib::reports
