// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/links/ledger.hpp"

namespace ipoib::links {

void Ledger::take(const rules::Rule& rule, const reports::Detail& detail) {
    const auto* cause = cause_of(rule.id, detail);
    const Key key{rule.id, cause, detail.link};
    auto found = entries_.find(key);
    if (found == entries_.end()) {
        if (entries_.size() >= most_entries) {
            ++beyond_;
            return;
        }
        found = entries_.emplace(key, Entry{.rule = &rule, .cause = cause, .frames = {}, .first = detail}).first;
    }
    auto& entry = found->second;
    ++entry.count;
    if (entry.frames.size() < most_frames) entry.frames.push_back({detail.frame, detail.time, detail.capture});
    add(entry, entry.subjects, detail.subject);
    add(entry, entry.groups, detail.group);
}

void Ledger::add(Entry& entry, std::set<std::string>& names, const std::string& name) {
    if (name.empty() || names.contains(name)) return;
    if (names_ >= most_names) {
        entry.has_more = true;
        return;
    }
    ++names_;
    names.insert(name);
}

}  // namespace ipoib::links
