// SPDX-License-Identifier: GPL-2.0-or-later
// Of a capture the fewest frames that still show a finding: a rule's, a requirement's, or one of `links`.
#pragma once

#include "conformance/judge/judge.hpp"

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace ipoib::excerpt {

/// What the excerpt must show.
struct Wanted {
    std::string name;         ///< id of a rule or requirement; or a finding that no text forbids: "duplicate-address"
    std::uint64_t frame = 0;  ///< that shows it in the capture, from 1; 0: any
};

struct Request {
    std::string capture;  ///< path of a file
    Wanted wanted;
    conformance::JudgeOptions judge{};  ///< as the excerpt will be judged
    std::function<bool()> is_stopped{};
    /// Told now and then: how many frames are left, after how many tries.
    std::function<void(std::size_t frames, std::size_t tries)> progress{};
};

struct Excerpt {
    std::vector<std::uint64_t> frames;  ///< their numbers in the capture, ascending
    std::uint64_t of = 0;               ///< frames that were looked at: up to the last that could matter
    std::size_t tries = 0;
    bool is_minimal = false;  ///< none of them can go alone; else it was stopped, or the tries ran out
    /// What else the frames show, since they are the same: of rules the ids, of findings the names.
    std::vector<std::string> others;
    std::string file;  ///< the excerpt as a pcapng, octet for octet: comments tell where each frame was
};

/// The capture does not show what is wanted.
struct NotThere : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Of so many octets frames are kept; what a capture shows only behind them is not looked for.
inline constexpr std::size_t most_octets = std::size_t{256} << 20;

/// Throws std::invalid_argument for a name of nothing and for what is no capture, NotThere with what the capture shows
/// instead, and std::runtime_error for what fails.
[[nodiscard]] Excerpt fewest_frames(const Request& request);

}  // namespace ipoib::excerpt
