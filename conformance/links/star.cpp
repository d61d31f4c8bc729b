// SPDX-License-Identifier: GPL-2.0-or-later
// Greedy: what most of the pairs that are left have in common is next. A pair is looked at twice, a centre as often as
// it has lost pairs.
#include "conformance/links/star.hpp"

#include <algorithm>
#include <map>
#include <queue>

namespace ipoib::links {
namespace {

/// A port or a group as the centre of a star.
struct Centre {
    std::vector<std::size_t> pairs;  ///< places in the span
    std::size_t left = 0;            ///< of them that no star has yet
};

template <class Index>
void in_order(std::vector<Index>& list) {
    std::ranges::sort(list);
    list.erase(std::unique(list.begin(), list.end()), list.end());
}

}  // namespace

std::vector<Star> stars(std::span<const Pair> pairs) {
    // Ports come before groups of the same size: who can be called is one host.
    std::map<std::pair<bool, std::uint32_t>, Centre> centres;
    const auto ends = [&](std::size_t at) {
        return std::array{std::pair{false, pairs[at].port}, std::pair{true, pairs[at].group}};
    };
    for (std::size_t i = 0; i < pairs.size(); ++i)
        for (const auto& end : ends(i)) {
            centres[end].pairs.push_back(i);
            ++centres[end].left;
        }
    using Entry = std::pair<std::size_t, std::pair<bool, std::uint32_t>>;
    const auto is_smaller = [](const Entry& a, const Entry& b) {
        return a.first != b.first ? a.first < b.first : a.second > b.second;
    };
    std::priority_queue<Entry, std::vector<Entry>, decltype(is_smaller)> largest{is_smaller};
    for (const auto& [key, centre] : centres) largest.emplace(centre.left, key);
    std::vector<bool> is_taken(pairs.size());
    std::vector<Star> all;
    while (!largest.empty()) {
        const auto [size, key] = largest.top();
        largest.pop();
        auto& centre = centres[key];
        if (centre.left == 0) continue;
        if (centre.left != size) {
            largest.emplace(centre.left, key);
            continue;
        }
        auto& star = all.emplace_back();
        for (const auto at : centre.pairs) {
            if (is_taken[at]) continue;
            is_taken[at] = true;
            star.ports.push_back(pairs[at].port);
            star.groups.push_back(pairs[at].group);
            star.pairs.push_back(pairs[at].index);
            for (const auto& end : ends(at)) --centres[end].left;
        }
        in_order(star.ports);
        in_order(star.groups);
    }
    return all;
}

Star whole(std::span<const Pair> pairs) {
    Star star;
    for (const auto& pair : pairs) {
        star.ports.push_back(pair.port);
        star.groups.push_back(pair.group);
        star.pairs.push_back(pair.index);
    }
    in_order(star.ports);
    in_order(star.groups);
    return star;
}

}  // namespace ipoib::links
