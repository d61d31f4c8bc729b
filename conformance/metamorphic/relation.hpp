// SPDX-License-Identifier: GPL-2.0-or-later
// A metamorphic relation: how the verdicts must move when a capture is changed, which is known without knowing them.
// One object each; nothing else names it.
#pragma once

#include "conformance/metamorphic/source.hpp"
#include "protocol/registry.hpp"
#include "protocol/requirements/catalogue.hpp"

#include <array>

namespace ipoib::metamorphic {

/// How the sets of FAIL and WARN before and after are related.
enum class Moves : std::uint8_t {
    nothing_new,  ///< nothing appears
    same,         ///< nothing appears, nothing goes
    sum,          ///< those of the source and those of what was mixed in, each as alone
    injected,     ///< those of the source, and the violation that was put in
    less_proven,  ///< nothing appears; what goes, and all that goes, is what holds only if nothing is missing
};

/// What was chosen for one variant; plain data, so that it can be done again to fewer frames of the source.
struct Choice {
    std::vector<std::size_t> frames;  ///< of the source, or of what is mixed in; ascending. Shrunk first
    std::array<std::uint64_t, 8> numbers{};
    const Source* other = nullptr;  ///< what is mixed in
    /// Of an injection, whose frame is the first of `frames`: the requirements, by number, that must be found broken
    /// there, and those that may be besides. Ascending.
    std::vector<std::uint16_t> expected{}, allowed{};
    bool may_break_more = false;  ///< whatever it is

    void clear() {
        expected.clear();
        may_break_more = false;
        allowed.clear();
        frames.clear();
        numbers = {};
        other = nullptr;
    }
};

/// The frames of a source that are there: all, or what shrinking has left. Ascending.
using Kept = std::span<const std::size_t>;

struct Relation {
    std::string_view name;  ///< "loss-one"
    std::string_view what;  ///< the change and what must follow, in words
    Moves moves = Moves::nothing_new;
    /// Whether what is mixed in is of the same subnet: time passes there by either's frames.
    bool is_of_one_subnet = false;
    /// What is lost may leave no trace: the last exchange of a queue pair that nothing follows. Then nothing can be
    /// asked of the judge.
    bool may_be_traceless = false;
    /// Statements on rates, counts and idle times, where the change touches those.
    std::vector<const requirements::Requirement*> exceptions{};
    /// How many variants of a source there are to be tried one after the other, by number; later numbers are left to
    /// chance, if there is any.
    std::size_t (*systematic)(const Source& source) = nullptr;
    bool is_random = true;
    /// Chooses variant `number`. False where the source has none.
    bool (*choose)(const Source& source, const Sources& all, std::size_t number, Random& random,
                   Choice& choice) = nullptr;
    /// Writes the variant of those frames that are kept.
    void (*change)(const Source& source, Kept kept, const Choice& choice, Trace& variant) = nullptr;
    Registered<Relation> registered{this};
};

/// All relations, by name.
[[nodiscard]] std::vector<const Relation*> all_relations();
[[nodiscard]] const Relation* find_relation(std::string_view name);

/// For relations: a frame of the source as it is.
inline void put(const Source& source, std::size_t index, Trace& variant) {
    variant.frames.push_back(source.frames()[index]);
}
inline std::size_t no_variants(const Source&) { return 0; }
/// Whether an ascending list has it.
inline bool has(const std::vector<std::size_t>& frames, std::size_t index) {
    return std::ranges::binary_search(frames, index);
}

/// Systematic variants of a source: one for each of its frames, or for each border between two.
inline std::size_t each_frame(const Source& source) { return source.size(); }
inline std::size_t each_border(const Source& source) { return source.size() < 2 ? 0 : source.size() - 1; }

}  // namespace ipoib::metamorphic
