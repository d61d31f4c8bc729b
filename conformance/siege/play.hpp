// SPDX-License-Identifier: GPL-2.0-or-later
// One history from its beginning to the verdict: after each step the answer, the SA's records and its reports are held
// against the model; in the end all leave, nothing may be left, and MLIDs in use may not be more than groups held.
#pragma once

#include "conformance/siege/history.hpp"
#include "conformance/siege/subject.hpp"

namespace ipoib::conformance::siege {

/// What a deviation comes to.
enum class Weight : std::uint8_t {
    fail,       ///< a requirement that binds is violated
    finding,    ///< no text says it in so many words, and yet it is not as IBA has it
    suspicion,  ///< it may be permitted: MLIDs that are not used again
    once,       ///< it did not show again with the same history: others on the fabric may have had a part in it
};
/// "FAIL", "FINDING", "SUSPICION", "ONCE".
[[nodiscard]] std::string_view name(Weight weight) noexcept;

struct Violation {
    sa_model::Deviation deviation;
    std::size_t step = 0;     ///< after which it showed; the number of steps: in the end
    bool shows_again = true;  ///< when the history was played again
    [[nodiscard]] Weight weight() const noexcept;
    [[nodiscard]] std::string key() const { return deviation.key(); }
};
inline constexpr std::string_view leak = "leak";  ///< kind of a deviation

struct Playing {
    bool is_anew = true;  ///< with a new administrator, where there can be one
    bool ends_at_first = false;
    /// The SA gives the same MLID to a group that is made again, so that another one tells of a leak.
    bool tells_leaks = true;
};

struct Outcome {
    std::vector<Violation> violations;
    unsigned requests = 0;
    std::vector<std::size_t>
        skipped;  ///< steps of ports and groups that are not there, or of what cannot be done there
    std::vector<std::uint16_t> mlids;  ///< of the groups that were made and left before it and behind it
    bool is_exhausted = false;         ///< the SA has no room for a group though nobody here holds one
    /// A request was answered when it had been sent again, or not at all, or a change of the fabric failed: who can say
    /// what has been carried out? What showed later is not among the violations.
    bool is_disturbed = false;
};

[[nodiscard]] Outcome play(const History& history, Subject& subject, const Playing& playing = {});

/// Whether the SA gives the same MLID again to groups that come and go one at a time, whatever their MGIDs are.
[[nodiscard]] bool gives_same_mlid(Subject& subject);

}  // namespace ipoib::conformance::siege
