// SPDX-License-Identifier: GPL-2.0-or-later
// Numbers of pcapng and how its blocks are read, in either byte order (draft-ietf-opsawg-pcapng).
#pragma once

#include "protocol/wire/field.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace ipoib::capture::pcapng {

// Block types, section 10.1.
inline constexpr std::uint32_t section_header = 0x0a0d0d0a;
inline constexpr std::uint32_t interface_description = 1;
inline constexpr std::uint32_t obsolete_packet = 2;
inline constexpr std::uint32_t simple_packet = 3;
inline constexpr std::uint32_t interface_statistics = 5;
inline constexpr std::uint32_t enhanced_packet = 6;

inline constexpr std::uint32_t byte_order_magic = 0x1a2b3c4d;
inline constexpr std::uint16_t major_version = 1;

// Options, sections 3.5, 4.1, 4.2, 4.3 and 4.6.
inline constexpr std::uint16_t opt_end = 0;
inline constexpr std::uint16_t opt_comment = 1;
inline constexpr std::uint16_t shb_user_application = 4;
inline constexpr std::uint16_t if_name = 2;
inline constexpr std::uint16_t if_time_resolution = 9;
inline constexpr std::uint16_t if_time_offset = 14;
inline constexpr std::uint16_t packet_drop_count = 4;
inline constexpr std::uint16_t statistics_interface_drops = 5;
inline constexpr std::uint16_t statistics_system_drops = 7;
/// The drops count of an obsolete packet block that is not known. Section B.1.
inline constexpr std::uint16_t unknown_drops = 0xffff;

/// Type, length, and the length once more behind the body.
inline constexpr std::size_t block_head = 8, block_tail = 4, smallest_block = block_head + block_tail;
/// No writer makes longer ones; Wireshark has the same limit.
inline constexpr std::uint32_t longest_block = std::uint32_t{16} << 20;

/// Everything in a block is padded to 32 bits.
constexpr std::size_t padded(std::size_t octets) noexcept { return (octets + 3) / 4 * 4; }

/// The unsigned integer at `from` in the byte order of its section.
template <class T>
T load(const std::uint8_t* from, bool is_swapped) noexcept {
    T value;
    std::memcpy(&value, from, sizeof value);
    if (!is_swapped) return value;
    if constexpr (sizeof(T) == 2) return __builtin_bswap16(value);
    if constexpr (sizeof(T) == 4) return __builtin_bswap32(value);
    if constexpr (sizeof(T) == 8) return __builtin_bswap64(value);
}

/// Reads a block from its beginning to its end. Reading further gives zeros and is remembered.
class Cursor {
public:
    Cursor() noexcept = default;
    Cursor(wire::Octets octets, bool is_swapped) noexcept : rest_{octets}, is_swapped_{is_swapped} {}

    std::uint16_t u16() noexcept { return integer<std::uint16_t>(); }
    std::uint32_t u32() noexcept { return integer<std::uint32_t>(); }
    std::uint64_t u64() noexcept { return integer<std::uint64_t>(); }
    /// A 64-bit time is stored as two halves, the upper one first in either byte order.
    std::uint64_t time() noexcept {
        const std::uint64_t upper = u32();
        return upper << 32 | u32();
    }
    wire::Octets take(std::size_t count) noexcept {
        if (count > rest_.size()) {
            is_short_ = true;
            return {};
        }
        const auto taken = rest_.first(count);
        rest_ = rest_.subspan(count);
        return taken;
    }
    [[nodiscard]] std::size_t left() const noexcept { return rest_.size(); }
    /// Whether something was asked for that is not there.
    [[nodiscard]] bool is_short() const noexcept { return is_short_; }

private:
    template <class T>
    T integer() noexcept {
        const auto octets = take(sizeof(T));
        return octets.empty() ? T{0} : load<T>(octets.data(), is_swapped_);
    }

    wire::Octets rest_;
    bool is_swapped_ = false, is_short_ = false;
};

/// Section 3.5. Options that are damaged harm nothing but themselves. `take(code, value)` gets each.
template <class Take>
void for_each_option(Cursor options, const Take& take) noexcept {
    while (options.left() > 0) {
        const std::uint16_t code = options.u16(), length = options.u16();
        const auto value = options.take(padded(length));
        if (code == opt_end || options.is_short()) break;
        take(code, value.first(length));
    }
}

/// How an interface counts time: if_tsresol and if_tsoffset.
class Clock {
public:
    /// The octet of if_tsresol: a power of two when its first bit is set, else of ten.
    void set_resolution(std::uint8_t resolution) noexcept { resolution_ = resolution; }
    /// Seconds to be added to every time.
    void set_offset(std::int64_t seconds) noexcept { offset_s_ = seconds; }
    /// Nanoseconds since 1970 of a packet's time, the nearest possible one when it is out of range.
    [[nodiscard]] std::int64_t to_ns(std::uint64_t ticks) const noexcept;

private:
    static constexpr std::uint8_t microseconds = 6;
    std::uint8_t resolution_ = microseconds;
    std::int64_t offset_s_ = 0;
};

}  // namespace ipoib::capture::pcapng
