// SPDX-License-Identifier: GPL-2.0-or-later
// Selectors: which rules (and cases) a command means.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ipoib::conformance {

/// What a selector can match: a rule, a case or a requirement.
struct Selectable {
    std::string_view id;
    std::vector<std::string_view> requirements;  ///< ids
    std::string_view strength;                   ///< "must", "should", "may"
    std::vector<std::string_view> tags;          ///< "arp", "nd", "grh" ...
    std::string_view status = {};                ///< "standard", "informative": of the strongest document
};

/// A list of selectors, upper or lower case: an id, a glob, a section ("rfc4391/6", its subsections included),
/// "level:must", "tag:arp", "status:standard"; a "!" before it takes away. Without a positive selector everything is
/// selected. Later selectors win.
class Selection {
public:
    Selection() = default;
    explicit Selection(std::vector<std::string> selectors) : selectors_(std::move(selectors)) {}

    [[nodiscard]] bool matches(const Selectable& candidate) const;
    /// The first selector that matches none of the candidates: such a selector is a usage error.
    [[nodiscard]] std::optional<std::string> unmatched(const std::vector<Selectable>& candidates) const;
    [[nodiscard]] bool empty() const noexcept { return selectors_.empty(); }

private:
    std::vector<std::string> selectors_;
};

/// "; did you mean 'rfc4391/6'?" of a selector that matches nothing: ids, sections, tags and levels of the candidates;
/// empty where nothing is near.
[[nodiscard]] std::string nearest_selector(std::string_view wrong, const std::vector<Selectable>& candidates);

}  // namespace ipoib::conformance
