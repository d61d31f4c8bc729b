// SPDX-License-Identifier: GPL-2.0-or-later
// What captures that are open at the same time share: memory for buffers and for what a file makes its reader keep,
// such as the window of a decompressor; and room on the disk for what is decompressed there.
#pragma once

#include <atomic>
#include <cstddef>

namespace ipoib::capture {

/// Counts octets. Threads may share it.
class Pool {
public:
    explicit Pool(std::size_t most) noexcept : most_(most) {}
    /// For all captures of the process: as much memory as one zstd window of 128 MiB, a block and the buffers of very
    /// many, and half of what the open files have on disk.
    [[nodiscard]] static Pool& memory() noexcept;
    /// Temporary files of 2 GiB, and of sixteen times what the open files have on disk.
    [[nodiscard]] static Pool& disk() noexcept;

    /// Whether there was as much, and is as much left as must be.
    [[nodiscard]] bool take(std::size_t octets, std::size_t leaving = 0) noexcept;
    void give_back(std::size_t octets) noexcept { held_ -= octets; }
    void grow(std::size_t octets) noexcept { most_ += octets; }
    void shrink(std::size_t octets) noexcept { most_ -= octets; }
    /// What is left for buffers by those who hold much more than these.
    [[nodiscard]] std::size_t of_buffers() const noexcept { return most_ / 8; }
    /// More than a quarter is held: who can do with less should.
    [[nodiscard]] bool is_scarce() const noexcept { return held_ > most_ / 4; }

private:
    std::atomic<std::size_t> most_, held_{0};
};

/// What one holds of it, until the end.
class Share {
public:
    explicit Share(Pool& pool) noexcept : pool_(pool) {}
    ~Share() { pool_.give_back(octets_); }
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;

    /// Whether it is so many octets now; unchanged where more are wanted than there are, or than leaves some for
    /// others.
    [[nodiscard]] bool resize(std::size_t octets, std::size_t leaving = 0) noexcept {
        if (octets > octets_ && !pool_.take(octets - octets_, leaving)) return false;
        if (octets < octets_) pool_.give_back(octets_ - octets);
        octets_ = octets;
        return true;
    }
    [[nodiscard]] std::size_t octets() const noexcept { return octets_; }
    [[nodiscard]] Pool& pool() const noexcept { return pool_; }

private:
    Pool& pool_;
    std::size_t octets_ = 0;
};

inline constexpr std::size_t usual_buffer = std::size_t{256} << 10;
/// How large a buffer for reading is: smaller where very many captures are open.
[[nodiscard]] inline std::size_t buffer_size(const Pool& memory) noexcept {
    constexpr std::size_t small = std::size_t{16} << 10;
    return memory.is_scarce() ? small : usual_buffer;
}

}  // namespace ipoib::capture
