// SPDX-License-Identifier: GPL-2.0-or-later
// Violations as a judge tells of them, by rule and link: its own results hold the first hundred of a rule, which may
// all be of one link.
#pragma once

#include "conformance/judge/judge.hpp"
#include "conformance/links/cause.hpp"

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace ipoib::links {

/// In bounded memory, whatever it is told.
class Ledger {
public:
    static constexpr std::size_t most_entries = 8192, most_frames = 64, most_names = 65'536;

    /// One rule's violations on one link.
    struct Entry {
        const rules::Rule* rule = nullptr;
        const Cause* cause = nullptr;  ///< null where none explains a loss
        std::uint64_t count = 0;
        std::vector<state::Sight> frames;
        reports::Detail first;
        std::set<std::string> subjects, groups;  ///< as Detail has them
        bool has_more = false;                   ///< subjects or groups than there was room for
    };
    using Key = std::tuple<std::string_view, const Cause*, std::string>;  ///< rule, cause, link

    void take(const rules::Rule& rule, const reports::Detail& detail);
    /// To be given to a judge; valid as long as the ledger stays where it is.
    [[nodiscard]] conformance::Judge::Listener listener() {
        return [this](const rules::Rule& rule, const reports::Detail& detail) { take(rule, detail); };
    }

    [[nodiscard]] const std::map<Key, Entry>& entries() const noexcept { return entries_; }
    /// Violations that there was no entry for.
    [[nodiscard]] std::uint64_t beyond() const noexcept { return beyond_; }

private:
    void add(Entry& entry, std::set<std::string>& names, const std::string& name);

    std::map<Key, Entry> entries_;
    std::size_t names_ = 0;
    std::uint64_t beyond_ = 0;
};

}  // namespace ipoib::links
