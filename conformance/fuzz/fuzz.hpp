// SPDX-License-Identifier: GPL-2.0-or-later
// A search: sessions are played one after the other, those that show something new are changed further, and what they
// bring to light is made small.
#pragma once

#include "conformance/fuzz/arena.hpp"
#include "conformance/fuzz/generator.hpp"

#include <chrono>
#include <functional>

namespace ipoib::conformance::fuzz {

struct Found {
    Finding finding;
    Session session;             ///< that shows it, as small as it was made
    bool is_seen_again = false;  ///< on a new node, at least once
    double after = 0;            ///< s, since the search began
    std::uint64_t number = 0;    ///< of the session
};

struct Progress {
    std::uint64_t sessions = 0;
    std::size_t blocks = 0, kinds = 0, corpus = 0, found = 0;
};

struct Search {
    std::uint64_t seed = 1;
    std::string scenario = "default";
    std::set<Area> areas;
    std::vector<Session> corpus;
    /// None: without an end. What was found by then is made smaller in as much time again, two minutes at least.
    std::optional<std::chrono::nanoseconds> time;
    std::optional<std::uint64_t> sessions;
    std::size_t most_found = 0;  ///< it ends with so many; 0: it goes on
    unsigned most_tries = 60;    ///< sessions played to make one smaller
    std::function<void(const Progress&)> progress{};
    /// Told of each at once, with the seconds since the search began; what comes of it is told by `found`.
    std::function<void(const Finding&, double)> seen{};
    std::function<void(const Found&)> found{};  ///< told of each once it is as small as it was made
};

struct Searched {
    std::vector<Found> found;               ///< each once
    std::uint64_t sessions = 0, again = 0;  ///< again: that showed what had been found
    std::uint64_t doubtful = 0;             ///< after which the node was late or silent, and no new one was
    double seconds = 0;
    std::set<std::string> blocks;
    std::size_t kinds = 0;
    std::vector<Session> corpus;  ///< that showed something new
    std::string broken;           ///< why it ended early: the node does not come back
};

/// Throws what Arena::begin does where the node is not there at the beginning. The same seed makes the same sessions as
/// long as the same ones show something new, which in real time they need not.
[[nodiscard]] Searched search(Arena& arena, const Search& search);

/// In a few sentences.
[[nodiscard]] std::string text(const Searched& searched);

}  // namespace ipoib::conformance::fuzz
