// SPDX-License-Identifier: GPL-2.0-or-later
// Histories of chance. Each keeps to a few ports, groups and kinds of steps, so that what it does meets what it did.
#pragma once

#include "conformance/siege/history.hpp"
#include "conformance/siege/subject.hpp"

#include <random>

namespace ipoib::conformance::siege {

class Generator {
public:
    struct Options {
        std::uint64_t seed = 1;
        unsigned depth = 16;                ///< steps, at most
        unsigned states = all_join_states;  ///< JoinState of joins and leaves has no other bits
    };
    Generator(Options options, Subject::Abilities abilities)
        : options_(options), abilities_(abilities), random_(options.seed) {}

    [[nodiscard]] History next();

private:
    struct Part;
    [[nodiscard]] unsigned below(unsigned count) { return static_cast<unsigned>(random_() % count); }
    /// Some of the join states that there may be, or one.
    [[nodiscard]] unsigned some_states();
    [[nodiscard]] unsigned one_state();
    [[nodiscard]] unsigned any(const std::vector<unsigned>& some) {
        return some[below(static_cast<unsigned>(some.size()))];
    }
    [[nodiscard]] bool one_in(unsigned count) { return below(count) == 0; }
    [[nodiscard]] Step step(Part& part);
    [[nodiscard]] Step join(Part& part);
    [[nodiscard]] Step leave(Part& part);

    Options options_;
    Subject::Abilities abilities_;
    std::mt19937_64 random_;
};

}  // namespace ipoib::conformance::siege
