// SPDX-License-Identifier: GPL-2.0-or-later
// Many variants by number and by chance, and what they have broken.
#pragma once

#include "conformance/metamorphic/trial.hpp"

#include <chrono>
#include <string>

namespace ipoib::metamorphic {

/// A relation that does not hold: the first variant that shows it, shrunk, and how many more do.
struct Break {
    const Relation* relation = nullptr;
    const Source* source = nullptr;
    std::size_t number = 0;  ///< of the variant: variant_name() names it
    Reduced reduced{};
    std::uint64_t variants = 0;            ///< that show it
    std::vector<const Source*> sources{};  ///< in which it shows

    [[nodiscard]] bool is_like(const Relation& other, const Moved& moved) const noexcept {
        return relation == &other && reduced.moved.is_like(moved);
    }
};

struct Run {
    const Sources& sources;
    std::vector<const Relation*> relations;  ///< usually all
    std::uint64_t seed = 1;
    /// Of those that are tried one by one at most so many of each source and relation, spread evenly.
    std::size_t most_each = 32;
    /// Variants by chance of each source and relation, after those that are tried one by one.
    std::size_t random_each = 2;
    /// Where it is not 0: variants of all kinds by chance until so much time has passed, instead.
    std::chrono::nanoseconds duration{};
    std::function<bool()> is_stopped{};
    std::function<void(std::uint64_t variants, std::size_t breaks)> progress{};
};

struct Outcome {
    std::uint64_t variants = 0;
    double seconds = 0;  ///< of all processors, for judging variants, without shrinking
    std::vector<Break> breaks;
    /// By relation: its variants.
    std::vector<std::pair<const Relation*, std::uint64_t>> by_relation;
    bool is_interrupted = false;
};

/// On all processors; equal runs without a duration come to the same.
[[nodiscard]] Outcome execute(const Run& run);

/// One variant only.
[[nodiscard]] Outcome try_variant(const Relation& relation, const Source& source, const Sources& all,
                                  std::size_t number);

/// Chooses variant `number`, as execute() does. False where the source has none.
bool choose(const Relation& relation, const Source& source, const Sources& all, std::size_t number, Choice& choice);
/// "loss-one/profile:arp/7".
[[nodiscard]] std::string variant_name(const Relation& relation, const Source& source, std::size_t number);

}  // namespace ipoib::metamorphic
