// SPDX-License-Identifier: GPL-2.0-or-later
// What relations are tried on: captures by name, in memory, each judged once as it is.
#pragma once

#include "conformance/metamorphic/names.hpp"
#include "conformance/metamorphic/verdicts.hpp"

#include <functional>
#include <memory>
#include <mutex>
#include <string>

namespace ipoib::traffic {
struct Profile;
}

namespace ipoib::metamorphic {

struct Source {
    std::string name;  ///< "profile:membership", "mutation:reserved-not-zero", "reference:IPOIB-4391-6-VAL-001"
    std::string kind;  ///< the part of it before the colon
    Trace trace;
    bool is_one_subnet = false;
    /// Of one administrator whose LID is that of all sources of the generator: they can be mixed as partitions.
    bool is_generated = false;
    std::uint16_t administrator_lid = 0;  ///< of such a source; 0 where another one takes over
    std::uint64_t administrator_guid = 0;

    std::vector<Who> who{};
    std::vector<std::size_t> everything{};  ///< 0, 1, 2 ... : the numbers of all frames
    Verdicts verdicts{};
    Decisions decisions{};
    /// Requirements, by number, that somebody in it breaks whoever is seen to: no accusation of these is false.
    /// Ascending.
    std::vector<std::uint16_t> broken{};
    /// What the frames name, and by frame the numbers of its names; found out when they are asked for first, by
    /// whichever thread.
    [[nodiscard]] const Names& names() const;
    [[nodiscard]] const std::vector<std::vector<std::uint64_t>>& shared() const;

    [[nodiscard]] const std::vector<Frame>& frames() const noexcept { return trace.frames; }
    [[nodiscard]] std::size_t size() const noexcept { return trace.frames.size(); }
    [[nodiscard]] bool is_legal() const noexcept { return verdicts.charges.empty(); }
    [[nodiscard]] Parties parties() const noexcept { return {who, {}}; }

private:
    mutable std::once_flag named_, compared_;
    mutable std::unique_ptr<const Names> names_;
    mutable std::vector<std::vector<std::uint64_t>> shared_;
};
using Sources = std::vector<std::unique_ptr<Source>>;

/// Makes a source of frames whose octets are those of `trace.store` or outlive it, and judges it.
[[nodiscard]] std::unique_ptr<Source> make_source(std::string name, Trace trace, bool is_one_subnet = false);

/// The sample captures.
void add_samples(Sources& sources);
/// Whether a profile has packets of its own: not those of a capture, or all others'.
[[nodiscard]] bool is_played(const traffic::Profile& profile);
/// What a profile sends.
[[nodiscard]] std::unique_ptr<Source> played(const traffic::Profile& profile);
/// Every profile of the generator, and every mutation on its own profile, fast and slow, with a few frames each.
void add_generated(Sources& sources, std::uint64_t seed);
struct EvidenceOptions {
    bool with_reference = true, with_permitted = false, with_mutants = false;
    std::uint64_t seed = 1;
};
/// The frames of every case: with the reference, with each permitted way, with each mutant.
void add_evidence(Sources& sources, const EvidenceOptions& options,
                  const std::function<void(const std::string&)>& progress);
/// A capture file. Throws std::runtime_error for one that cannot be read.
void add_capture(Sources& sources, const std::string& path, const std::string& name);

}  // namespace ipoib::metamorphic
