// SPDX-License-Identifier: GPL-2.0-or-later
// Matching selectors.
#include "conformance/judge/selection.hpp"

#include "base/nearest.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <cctype>

namespace ipoib::conformance {
namespace {

bool glob(std::string_view pattern, std::string_view text) {
    return fnmatch(std::string(pattern).c_str(), std::string(text).c_str(), FNM_CASEFOLD) == 0;
}

std::string lower(std::string_view text) {
    std::string lowered{text};
    std::ranges::transform(lowered, lowered.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return lowered;
}

/// "rfc4391/6" of "RFC4391-6-02"; "udmc" of "UDMC-02".
std::string section_path(std::string_view id) {
    const auto first = id.find('-'), last = id.rfind('-');
    std::string path{id.substr(0, first)};
    if (first != last) path += '/' + std::string(id.substr(first + 1, last - first - 1));
    return lower(path);
}

bool is_section(const std::string& selector, std::string_view requirement) {
    const auto path = section_path(requirement);
    return path == selector ||
           (path.starts_with(selector) && (path[selector.size()] == '.' || path[selector.size()] == '/'));
}

bool matches_one(std::string_view written, const Selectable& candidate) {
    constexpr std::string_view level = "level:", tag = "tag:", status = "status:";
    const auto selector = lower(written);
    if (selector.empty()) return false;
    if (selector.starts_with(level)) return candidate.strength == selector.substr(level.size());
    if (selector.starts_with(status)) return candidate.status == selector.substr(status.size());
    if (selector.starts_with(tag))
        return std::ranges::find(candidate.tags, selector.substr(tag.size())) != candidate.tags.end();
    const auto is_it = [&](std::string_view id) { return glob(selector, id) || is_section(selector, id); };
    return glob(selector, candidate.id) || std::ranges::any_of(candidate.requirements, is_it);
}

}  // namespace

bool Selection::matches(const Selectable& candidate) const {
    bool selected = std::ranges::all_of(selectors_, [](const auto& s) { return s.starts_with('!'); });
    for (const std::string_view selector : selectors_) {
        const bool takes_away = selector.starts_with('!');
        if (matches_one(selector.substr(takes_away ? 1 : 0), candidate)) selected = !takes_away;
    }
    return selected;
}

std::optional<std::string> Selection::unmatched(const std::vector<Selectable>& candidates) const {
    for (const auto& selector : selectors_) {
        const auto bare = std::string_view{selector}.substr(selector.starts_with('!') ? 1 : 0);
        if (std::ranges::none_of(candidates, [&](const auto& c) { return matches_one(bare, c); })) return selector;
    }
    return std::nullopt;
}

std::string nearest_selector(std::string_view wrong, const std::vector<Selectable>& candidates) {
    Nearest nearest{wrong.substr(wrong.starts_with('!') ? 1 : 0)};
    const auto offer_word = [&](std::string_view kind, std::string_view word) {
        if (!word.empty()) nearest.offer(std::string(kind).append(word));
    };
    for (const auto& one : candidates) {
        nearest.offer(one.id);
        for (const auto id : one.requirements) {
            nearest.offer(id);
            // Its section, and those that this one is in.
            for (auto path = section_path(id); !path.empty(); path.resize(path.find_last_of("./"))) {
                nearest.offer(path);
                if (path.find_first_of("./") == std::string::npos) break;
            }
        }
        offer_word("level:", one.strength);
        offer_word("status:", one.status);
        for (const auto tag : one.tags) offer_word("tag:", tag);
    }
    return nearest.question();
}

}  // namespace ipoib::conformance
