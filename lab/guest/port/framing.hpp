// SPDX-License-Identifier: GPL-2.0-or-later
// Streams taken apart: the raw port's frames (a 16-bit big-endian length before each) and the pcap stream of ERF
// records that the kernel module's capture device writes. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ipoib::lab {

using Octets = std::vector<std::uint8_t>;
using OctetsView = std::span<const std::uint8_t>;

constexpr std::size_t shortest_frame = 26, longest_frame = 4300;

/// Octets that come in pieces and are used up in others.
class Buffer {
public:
    void add(OctetsView octets) { octets_.insert(octets_.end(), octets.begin(), octets.end()); }
    [[nodiscard]] OctetsView view() const noexcept { return OctetsView(octets_).subspan(used_); }
    [[nodiscard]] std::size_t size() const noexcept { return octets_.size() - used_; }
    void use(std::size_t count);
    void clear() noexcept { octets_.clear(), used_ = 0; }

private:
    Octets octets_;
    std::size_t used_ = 0;
};

/// Appends a frame with its length; an empty one says that the link is down.
void write_frame(Buffer& to, OctetsView frame);

/// The raw port's stream.
class FrameReader {
public:
    void feed(OctetsView octets) { buffer_.add(octets); }
    /// The next frame, empty for "link down"; absent while there is no whole one, or once the stream is broken. It is
    /// valid until used(), which must be called before the next.
    [[nodiscard]] std::optional<OctetsView> next();
    void used();
    /// A length was none: nothing that follows can be trusted.
    [[nodiscard]] bool is_broken() const noexcept { return is_broken_; }
    [[nodiscard]] std::size_t waiting() const noexcept { return buffer_.size(); }

private:
    Buffer buffer_;
    bool is_broken_ = false;
};

/// A pcap stream of link type 197 (ERF).
class CaptureReader {
public:
    void feed(OctetsView octets) { buffer_.add(octets); }
    /// The next frame, LRH to VCRC; absent while there is no whole one, or once the stream is broken. Records of other
    /// kinds, and frames that were cut or have an impossible length, are passed over.
    [[nodiscard]] std::optional<Octets> next();
    /// Why the stream is no such capture; empty as long as it is.
    [[nodiscard]] const std::string& error() const noexcept { return error_; }
    [[nodiscard]] std::uint64_t passed_over() const noexcept { return passed_over_; }

private:
    bool read_head();
    [[nodiscard]] std::uint32_t number(std::size_t at) const;
    Buffer buffer_;
    bool has_head_ = false, is_swapped_ = false;
    std::string error_;
    std::uint64_t passed_over_ = 0;
};

/// The frame in an ERF record; absent when the record holds no whole InfiniBand frame.
[[nodiscard]] std::optional<OctetsView> frame_in_erf(OctetsView record);

}  // namespace ipoib::lab
