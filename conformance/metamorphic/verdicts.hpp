// SPDX-License-Identifier: GPL-2.0-or-later
// What the judge holds against whom in a trace: the sets that metamorphic relations compare.
#pragma once

#include "conformance/metamorphic/trace.hpp"

#include <compare>
#include <functional>
#include <span>

namespace ipoib::metamorphic {

/// One frame's parties, by the names that they have when the whole source is known (`name_of`). A change that takes
/// knowledge away may leave a port without its GUID, and a consistent renaming gives it another: it is the same port.
struct Who {
    std::uint16_t sender = 0;  ///< who has sent it
    std::uint16_t asker = 0;   ///< for traffic with the SA: the port that asks
    std::uint16_t link = 0;
    bool is_foreign = false;  ///< it only looks like IPoIB
    friend auto operator<=>(const Who&, const Who&) = default;
};
/// A number for a name of a port or link, and back.
[[nodiscard]] std::uint16_t number_of(const std::string& name);
[[nodiscard]] const std::string& name_of(std::uint16_t number);

/// A FAIL or WARN: of which requirement (its number in requirements::all()), about whom, on which link.
struct Charge {
    std::uint16_t requirement = 0, subject = 0, link = 0;
    bool is_fail = false;
    std::uint16_t rule = 0;      ///< in rules::all(); which one found it is not compared
    std::uint32_t position = 0;  ///< of the first frame that shows it, from 0; not compared
    /// It stands since nothing shows a loss, but no later packet shows that there was none either; not compared.
    bool is_by_end = false;

    [[nodiscard]] std::uint64_t key() const noexcept {
        return std::uint64_t{requirement} << 33 | std::uint64_t{subject} << 17 | std::uint64_t{link} << 1 |
               std::uint64_t{is_fail};
    }
};

/// All charges of a trace, each once, in the order of their keys.
struct Verdicts {
    std::vector<Charge> charges;
    bool shows_loss = false;  ///< something in the trace tells of packets that are not in it
    /// Whether a charge, or a worse one of the same requirement, subject and link, is among them.
    [[nodiscard]] bool has(const Charge& charge) const noexcept;
    [[nodiscard]] bool has_exactly(const Charge& charge) const noexcept;
    void add(const Charge& charge) { charges.push_back(charge); }
    void settle();
};

/// The requirements, and what else is broken where they are, as Charge::requirement has them; ascending.
[[nodiscard]] std::vector<std::uint16_t> numbers_of(const std::vector<const requirements::Requirement*>& broken);

/// What would be a charge, but for a doubt.
struct Suspicion {
    std::uint16_t requirement = 0;
    std::uint32_t position = 0;  ///< of the frame that shows it, from 0
    std::string doubt;           ///< its name, and what is missing
};
using Suspicions = std::vector<Suspicion>;

/// How often rules judged something, by rules::all().
struct Decisions {
    std::vector<std::uint32_t> observed;
};

/// Who the frames of a trace are from, by Frame::from: of the source itself and of what was mixed in.
struct Parties {
    std::span<const Who> of_source, of_mixed_in;
    [[nodiscard]] Who of(const Frame& frame) const noexcept {
        const auto& table = frame.is_mixed_in ? of_mixed_in : of_source;
        return frame.is_without_who || frame.from >= table.size() ? Who{} : table[frame.from];
    }
};

/// Rules by which frames are judged, in the order of rules::all().
using RuleSet = std::vector<const rules::Rule*>;

/// What is asked of the judge beside verdicts, and how it judges.
struct Way {
    Decisions* decisions = nullptr;    ///< made anew
    Suspicions* suspicions = nullptr;  ///< made anew
    const RuleSet* rules = nullptr;    ///< null: all, as they are
    std::uint64_t lost_somewhere = 0;  ///< the capture tells behind its last frame that each interface lacks so many
    bool is_vouched_for = false;       ///< the user says that the capture is whole
};
/// Judges frames. `verdicts` is made anew.
void judge(const std::vector<Frame>& frames, bool is_one_subnet, const Parties& parties, Verdicts& verdicts,
           const Way& way = {});
/// The parties of each frame.
[[nodiscard]] std::vector<Who> parties_of(const std::vector<Frame>& frames, bool is_one_subnet);

}  // namespace ipoib::metamorphic
