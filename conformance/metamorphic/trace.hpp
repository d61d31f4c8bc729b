// SPDX-License-Identifier: GPL-2.0-or-later
// Frames in memory, as they are judged: those of a source, and what a relation makes of them.
#pragma once

#include "protocol/inspection/inspector.hpp"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <string_view>
#include <vector>

namespace ipoib::metamorphic {

/// One frame of a capture, and where it came from.
struct Frame {
    wire::Octets octets;
    std::uint32_t wire_length = 0;
    wire::Medium medium = wire::Medium::infiniband;
    std::int64_t time = 0;  ///< ns since 1970
    std::uint32_t interface = 0, capture = 0;
    inspection::Origin origin{};
    std::uint64_t lost = 0;       ///< what the capture says was lost before it at its interface
    std::uint32_t from = 0;       ///< the number, from 0, of the frame of its source that it is, or was made of
    bool is_mixed_in = false;     ///< `from` is of the source that was mixed in
    bool is_without_who = false;  ///< it is of no source
};

/// Octets of frames that were changed. They stay where they are until clear(), which keeps the memory.
class Store {
public:
    wire::MutableOctets copy(wire::Octets octets) {
        auto& slot = next();
        slot.assign(octets.begin(), octets.end());
        return slot;
    }
    wire::MutableOctets keep(std::vector<std::uint8_t> octets) { return next() = std::move(octets); }
    void clear() noexcept { used_ = 0; }

private:
    std::vector<std::uint8_t>& next() {
        if (used_ == slots_.size()) slots_.emplace_back();
        return slots_[used_++];
    }
    std::deque<std::vector<std::uint8_t>> slots_;
    std::size_t used_ = 0;
};

/// A list of frames to be judged.
struct Trace {
    std::vector<Frame> frames;
    Store store;
    bool is_one_subnet = false;  ///< as `check --together`
    /// What the capture says at its end was lost somewhere, at each of its interfaces.
    std::uint64_t lost_somewhere = 0;
    void clear() {
        frames.clear();
        store.clear();
        is_one_subnet = false;
        lost_somewhere = 0;
    }
};

/// FNV-1a: the same everywhere.
constexpr std::uint64_t hash_of(std::string_view text, std::uint64_t hash = 0xcbf29ce484222325) noexcept {
    for (const char c : text) hash = (hash ^ static_cast<std::uint8_t>(c)) * 0x100000001b3;
    return hash;
}

/// SplitMix64: random numbers that are the same everywhere and cost nothing to begin.
class Random {
public:
    explicit Random(std::uint64_t seed) noexcept : state_(seed) {}
    std::uint64_t operator()() noexcept {
        auto z = state_ += 0x9e3779b97f4a7c15;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
        z = (z ^ z >> 27) * 0x94d049bb133111eb;
        return z ^ z >> 31;
    }
    /// A number below `bound`, which is not 0.
    std::size_t below(std::size_t bound) noexcept { return static_cast<std::size_t>((*this)() % bound); }

private:
    std::uint64_t state_;
};

}  // namespace ipoib::metamorphic
