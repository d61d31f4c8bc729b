// SPDX-License-Identifier: GPL-2.0-or-later
// Legal captures, and the violations that each can have, one at a time.
#pragma once

#include "conformance/metamorphic/source.hpp"

#include <string>
#include <vector>

namespace ipoib::recall {

using metamorphic::Frame, metamorphic::Source, metamorphic::Store, metamorphic::Trace;
using requirements::Requirement;

/// After a change old and new are both right for some seconds; ns.
inline constexpr std::int64_t handover = 10'000'000'000;

/// One frame as it is not in the legal capture.
struct Edit {
    std::uint32_t frame = 0;           ///< by its number in the source, from 0
    std::vector<std::uint8_t> octets;  ///< empty: it was never sent
};

/// A statement that is broken; which of several rules finds it is the judge's affair.
using Claim = std::vector<const Requirement*>;

struct Violation {
    std::string kind;           ///< "stale LID", "no subscription", the mutation's name
    std::vector<Claim> claims;  ///< each is to be found; the first requirement of each names it
    std::vector<Edit> edits;    ///< ascending by frame
    bool is_late = false;       ///< whichever frame shows it: else it is one of those that are edited
    bool is_provable = true;    ///< false: a legal capture may have the same frames
    bool is_at_rest = false;
    bool is_by_manager = false;  ///< only the SM's packets show that it is wrong

    [[nodiscard]] bool removes() const noexcept { return edits.front().octets.empty(); }
    /// The frame that names it, from 1.
    [[nodiscard]] std::size_t place() const noexcept { return edits.front().frame + std::size_t{1}; }
};

struct World {
    std::string situation;  ///< "restart"
    std::string name;       ///< "restart,ipv6,2,sll"
    bool has_psns = true;   ///< the link type shows InfiniBand headers
    std::unique_ptr<Source> source;
    std::vector<Violation> violations;
};
using Worlds = std::vector<World>;

/// Situations by name.
[[nodiscard]] std::vector<std::string_view> all_situations();

struct WorldOptions {
    std::vector<std::string> situations{};  ///< none: all
    std::uint64_t seed = 1;
    std::size_t lives = 2;  ///< of each situation and family
    bool other_link_types = true;
};
/// All worlds, with their violations. Does it on all processors.
[[nodiscard]] Worlds make_worlds(const WorldOptions& options);

/// What the world is with the violation. Packets behind one that was never sent have the numbers that they would have.
void put(const World& world, const Violation& violation, Trace& variant);

}  // namespace ipoib::recall
