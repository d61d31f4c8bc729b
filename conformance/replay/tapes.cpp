// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/replay/tapes.hpp"

#include "conformance/bench/session.hpp"

#include <algorithm>

namespace ipoib::conformance::replay {

std::vector<Journal> Tapes::next() {
    std::vector<Journal> journals;
    while (next_ < record_.scenes.size()) {
        const auto& scene = record_.scenes[next_];
        auto journal = ahead_ ? std::move(*ahead_) : read(scene);
        ahead_.reset();
        if (!journals.empty() && journal.head.number != journals.back().head.number + 1) {
            ahead_ = std::move(journal);
            break;
        }
        note(scene, journal);
        journals.push_back(std::move(journal));
        ++next_;
        if (record_.is_virtual) break;
    }
    if (journals.empty()) throw SessionBroken("the evidence has no journal of it");
    return journals;
}

/// What cannot be read is told, and leaves the next one its turn.
Journal Tapes::read(const std::string& scene) {
    try {
        return read_journal(folder_ / files_of(scene)[1], 0);
    } catch (const std::invalid_argument& why) {
        wrong_.emplace_back(why.what());
        ++next_;
        throw SessionBroken(why.what());
    }
}

void Tapes::note(const std::string& scene, const Journal& journal) {
    const auto expected = journal.head.repetition == 0
                              ? journal.head.case_id
                              : journal.head.case_id + '-' + std::to_string(journal.head.repetition + 1);
    const auto file = journal.path.filename().string();
    if (scene != expected) wrong_.push_back(file + " is the journal of " + expected);
    if (journal.is_cut) wrong_.push_back(file + " is not whole: lines were left out when it was written");
    if (journal.head.seed != record_.run.seed || journal.head.is_virtual != record_.is_virtual ||
        journal.head.timeout_scale != record_.session.timeout_scale)
        wrong_.push_back(file + " is of another run: seed, clock or timeout scale differ");
    const auto end = std::ranges::find(journal.entries, Kind::ends, &Entry::kind);
    ended_.push_back({scene, journal.head.case_id, end == journal.entries.end() ? std::string{} : end->text});
}

}  // namespace ipoib::conformance::replay
