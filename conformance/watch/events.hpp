// SPDX-License-Identifier: GPL-2.0-or-later
// What a watch finds, one JSON object a line.
#pragma once

#include "conformance/links/account.hpp"

#include <functional>
#include <set>
#include <string>
#include <string_view>

namespace ipoib::watch {

/// A capture of those that are watched, and a frame's number in it.
struct Place {
    std::string file;
    std::uint64_t frame = 0;
};

/// Tells of each thing once: of a violation and a suspicion by rule, link and subject, of a finding by name, link and
/// ports. Bounded: of the kinds beyond `most_kinds` nothing is told, but counted.
class Events {
public:
    static constexpr std::size_t most_kinds = 65'536;
    /// Takes a line at a time, with its line feed.
    using Sink = std::function<void(const std::string&)>;
    using PlaceOf = std::function<Place(std::uint64_t frame)>;
    Events(Sink sink, PlaceOf place_of) : sink_(std::move(sink)), place_of_(std::move(place_of)) {}

    /// Whether it was new.
    bool violation(const rules::Rule& rule, const reports::Detail& detail);
    /// Tells of one that was not told yet, by its first frame.
    void suspicion(const reports::Suspicion& one);
    /// Those of an account that were not told yet; one that is gone, and comes again, is told again.
    void findings(const links::Account& account);
    void capture(const std::string& file);
    /// What was seen in all.
    void end(std::uint64_t frames, std::uint64_t ipoib, std::int64_t time);

private:
    Sink sink_;
    PlaceOf place_of_;
    std::set<std::string> violations_, findings_, suspicions_;
    std::uint64_t beyond_ = 0;
};

}  // namespace ipoib::watch
