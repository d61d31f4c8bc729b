// SPDX-License-Identifier: GPL-2.0-or-later
// A frame in flight: shared octets, from LRH to VCRC, that nobody changes once they are sent.
#pragma once

#include "protocol/wire/field.hpp"

#include <utility>

namespace ipoib::fabric {

/// The lengths that the raw port takes: an LRH and what a MAD-less packet needs at least, up to a 4096-octet payload
/// with every header.
inline constexpr std::size_t shortest_frame = 26, longest_frame = 4300;

/// A reference to the octets of one frame; copying it copies no octets. Buffers come from a pool. One thread.
/// Both CRCs zero means "not computed": inside one process they are filled in only where somebody looks.
class Frame {
public:
    Frame() noexcept = default;
    /// Copies the octets; none, or more than longest_frame, give an empty frame.
    explicit Frame(wire::Octets octets);
    Frame(const Frame& other) noexcept : buffer_(other.buffer_) {
        if (buffer_) ++buffer_->references;
    }
    Frame(Frame&& other) noexcept : buffer_(std::exchange(other.buffer_, nullptr)) {}
    Frame& operator=(Frame other) noexcept {
        std::swap(buffer_, other.buffer_);
        return *this;
    }
    ~Frame() {
        if (buffer_ && --buffer_->references == 0) give_back(buffer_);
    }

    [[nodiscard]] wire::Octets octets() const noexcept {
        return buffer_ ? wire::Octets{buffer_->octets, buffer_->size} : wire::Octets{};
    }
    explicit operator bool() const noexcept { return buffer_ != nullptr; }
    /// Whether both refer to the same octets in memory.
    [[nodiscard]] bool is_same(const Frame& other) const noexcept { return buffer_ == other.buffer_; }

private:
    struct Buffer {
        std::uint32_t references;
        std::uint32_t size;
        Buffer* next;  ///< in the pool
        std::uint8_t octets[longest_frame];
    };
    struct Pool;
    static void give_back(Buffer* buffer) noexcept;
    Buffer* buffer_ = nullptr;
};

}  // namespace ipoib::fabric
