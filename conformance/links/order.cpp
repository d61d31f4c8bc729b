// SPDX-License-Identifier: GPL-2.0-or-later
// Findings in the order in which a person should read them: what explains most first, its consequences behind it.
#include "conformance/links/account.hpp"

#include <algorithm>
#include <numeric>

namespace ipoib::links {
namespace {

/// Of those that share a port, a group or a frame, so many are looked at.
constexpr std::size_t most_candidates = 16;

template <class Index>
bool is_part(const std::vector<Index>& some, const std::vector<Index>& all) {
    return !some.empty() && std::ranges::includes(all, some);
}

auto sight_key(const state::Sight& sight) { return std::pair{sight.capture, sight.frame}; }

bool has_frames_of(const Finding& consequence, const Finding& cause) {
    return consequence.count <= cause.count &&
           std::ranges::includes(cause.frames, consequence.frames, {}, sight_key, sight_key);
}

bool is_tied(const Finding& consequence, const Finding& cause, Tie tie) {
    switch (tie) {
        case Tie::link:
            return true;
        case Tie::port:
            return is_part(consequence.ports, cause.ports);
        case Tie::group:
            return is_part(consequence.groups, cause.groups);
        case Tie::port_and_group:
            return is_part(consequence.ports, cause.ports) && is_part(consequence.groups, cause.groups);
        case Tie::frames:
            return !consequence.frames.empty() && has_frames_of(consequence, cause);
    }
    return false;
}

/// Causes by what ties others to them: by each port, group and frame.
class Causes {
public:
    explicit Causes(const std::vector<Finding>& findings) : findings_(findings) {
        for (std::size_t i = 0; i < findings.size(); ++i) {
            const auto& one = findings[i];
            if (one.place == nowhere || one.name == "not-kept") continue;
            if (explains_by(one, Tie::link)) enter(one, Tie::link, 0, i);
            if (explains_by(one, Tie::port))
                for (const auto port : one.ports) enter(one, Tie::port, port, i);
            if (explains_by(one, Tie::group))
                for (const auto group : one.groups) enter(one, Tie::group, group, i);
            if (explains_by(one, Tie::frames))
                for (const auto& frame : one.frames) enter(one, Tie::frames, frame.frame, i);
        }
    }
    /// The one that explains a finding; `nowhere` for none.
    [[nodiscard]] std::size_t of(std::size_t index) const {
        const auto& one = findings_[index];
        if (one.place == nowhere) return nowhere;
        for (const auto& row : explanations()) {
            if (row.consequence != kind_of(one.name) || !one.rule.starts_with(row.rule)) continue;
            const auto [tie, member] = entry_of(one, row.tie);
            const auto found = by_tie_.find({row.cause, one.place, tie, member});
            if (found == by_tie_.end()) continue;
            for (const auto candidate : found->second)
                // One of the same name explains only what comes behind it.
                if ((findings_[candidate].name != one.name || candidate < index) &&
                    is_tied(one, findings_[candidate], row.tie))
                    return candidate;
        }
        return nowhere;
    }

private:
    /// Whether anything is looked for by such entries of it.
    static bool explains_by(const Finding& one, Tie tie) {
        return std::ranges::any_of(explanations(), [&](const Explanation& row) {
            const auto entered = row.tie == Tie::port_and_group ? Tie::port : row.tie;
            return row.cause == kind_of(one.name) && entered == tie;
        });
    }
    using Key = std::tuple<std::string_view, std::size_t, Tie, std::uint64_t>;

    void enter(const Finding& one, Tie tie, std::uint64_t member, std::size_t index) {
        auto& list = by_tie_[{kind_of(one.name), one.place, tie, member}];
        if (list.size() < most_candidates) list.push_back(index);
    }
    static std::pair<Tie, std::uint64_t> entry_of(const Finding& one, Tie tie) {
        constexpr auto no_member = ~std::uint64_t{0};
        switch (tie) {
            case Tie::link:
                return {tie, 0};
            case Tie::port:
            case Tie::port_and_group:
                return {Tie::port, one.ports.empty() ? no_member : one.ports.front()};
            case Tie::group:
                return {tie, one.groups.empty() ? no_member : one.groups.front()};
            case Tie::frames:
                return {tie, one.frames.empty() ? no_member : one.frames.front().frame};
        }
        return {tie, no_member};
    }

    const std::vector<Finding>& findings_;
    std::map<Key, std::vector<std::size_t>> by_tie_;
};

/// The last cause behind each finding, which is the finding itself where nothing explains it.
std::vector<std::size_t> roots_of(const std::vector<Finding>& findings) {
    const Causes causes{findings};
    std::vector<std::size_t> cause(findings.size());
    for (std::size_t i = 0; i < findings.size(); ++i) {
        const auto found = causes.of(i);
        cause[i] = found == nowhere ? i : found;
    }
    std::vector<std::size_t> roots(findings.size());
    for (std::size_t i = 0; i < findings.size(); ++i) {
        auto at = i;
        // No row leads back to what it began with; were it so, the chain is left where it has gone too far.
        for (std::size_t steps = 0; cause[at] != at && steps < explanations().size(); ++steps) at = cause[at];
        roots[i] = cause[at] == at ? at : i;
    }
    for (std::size_t i = 0; i < findings.size(); ++i)
        if (roots[roots[i]] != roots[i]) roots[i] = i;
    return roots;
}

/// How much one explains: the ports that it is about, its consequences'.
std::uint64_t weight(const Finding& one) { return std::max<std::uint64_t>(1, one.ports.size()); }

}  // namespace

void put_causes_first(std::vector<Finding>& findings) {
    // What is accused late is told late.
    for (auto& one : findings) std::ranges::sort(one.frames, {}, sight_key);
    const auto roots = roots_of(findings);
    std::vector<std::uint64_t> reach(findings.size());
    for (std::size_t i = 0; i < findings.size(); ++i) reach[roots[i]] += weight(findings[i]);
    std::vector<std::size_t> order(findings.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t at) {
        const auto root = roots[at];
        // What explains why packets are lost comes before what is only not kept, and that before advice.
        return std::tuple{findings[root].is_advice, findings[root].name == "not-kept", ~reach[root], root, at != root};
    });
    std::vector<std::size_t> place_of(findings.size());
    for (std::size_t i = 0; i < order.size(); ++i) place_of[order[i]] = i;
    std::vector<Finding> sorted;
    sorted.reserve(findings.size());
    for (const auto at : order) {
        auto& one = sorted.emplace_back(std::move(findings[at]));
        one.cause = roots[at] == at ? nowhere : place_of[roots[at]];
    }
    findings = std::move(sorted);
}

}  // namespace ipoib::links
