// SPDX-License-Identifier: GPL-2.0-or-later
// The journals of an evidence, session by session.
#pragma once

#include "conformance/replay/record.hpp"
#include "conformance/replay/tape.hpp"

#include <optional>

namespace ipoib::conformance::replay {

class Tapes {
public:
    /// Nothing is owned. What is wrong with a journal is told in `wrong`, a sentence each.
    Tapes(const std::filesystem::path& folder, const Record& record, std::vector<std::string>& wrong)
        : folder_(folder), record_(record), wrong_(wrong) {}

    /// Those of the next session: in virtual time one, else all that one fabric and one DUT lived through. Throws
    /// SessionBroken where there is none.
    [[nodiscard]] std::vector<Journal> next();

    /// The verdicts that the journals so far say their cases ended with.
    struct Ended {
        std::string scene, case_id, verdict;
    };
    [[nodiscard]] const std::vector<Ended>& ended() const noexcept { return ended_; }

private:
    [[nodiscard]] Journal read(const std::string& scene);
    void note(const std::string& scene, const Journal& journal);

    const std::filesystem::path& folder_;
    const Record& record_;
    std::vector<std::string>& wrong_;
    std::size_t next_ = 0;
    std::optional<Journal> ahead_;  ///< the first of the next session
    std::vector<Ended> ended_;
};

}  // namespace ipoib::conformance::replay
