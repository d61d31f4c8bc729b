// SPDX-License-Identifier: GPL-2.0-or-later
// ICRC and VCRC. IBTA Vol 1, 7.8.
#include "protocol/wire/crc.hpp"

#include "protocol/wire/bth.hpp"
#include "protocol/wire/grh.hpp"
#include "protocol/wire/lrh.hpp"

#include <bit>

#ifdef IPOIB_LIBDEFLATE
#include <libdeflate.h>
#endif
#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace ipoib::wire {
namespace {

/// Tables for a reflected CRC that takes `Slices` octets a step: slice k advances an octet over k further zero octets.
template <class T, T Polynomial, std::size_t Slices>
struct SlicedCrc {
    std::array<std::array<T, 256>, Slices> tables{};

    constexpr SlicedCrc() {
        for (unsigned i = 0; i < 256; ++i) {
            unsigned value = i;
            for (int bit = 0; bit < 8; ++bit) value = value >> 1 ^ (value & 1 ? Polynomial : 0u);
            tables[0][i] = static_cast<T>(value);
        }
        for (std::size_t k = 1; k < Slices; ++k)
            for (unsigned i = 0; i < 256; ++i) {
                const T before = tables[k - 1][i];
                tables[k][i] = static_cast<T>(before >> 8 ^ tables[0][before & 0xff]);
            }
    }

    [[nodiscard]] T update(T crc, Octets octets) const noexcept {
        const std::uint8_t* at = octets.data();
        std::size_t left = octets.size();
        for (; left >= Slices; at += Slices, left -= Slices) {
            T next = 0;
            for (std::size_t i = 0; i < sizeof(T); ++i)
                next = static_cast<T>(next ^ tables[Slices - 1 - i][(at[i] ^ crc >> 8 * i) & 0xff]);
            for (std::size_t i = sizeof(T); i < Slices; ++i)
                next = static_cast<T>(next ^ tables[Slices - 1 - i][at[i]]);
            crc = next;
        }
        for (; left; ++at, --left) crc = static_cast<T>(crc >> 8 ^ tables[0][(crc ^ *at) & 0xff]);
        return crc;
    }
};

/// x^16 + x^12 + x^3 + x + 1, reflected.
constexpr std::uint16_t vcrc_polynomial = 0xd008;
constexpr SlicedCrc<std::uint16_t, vcrc_polynomial, 16> crc16;

#ifdef __x86_64__
/// x^exponent modulo the VCRC's polynomial as a reflected 64-bit word: the coefficient of x^d is bit 63 - d.
constexpr long long power_of_x(unsigned exponent) {
    unsigned residue = 0x8000;  // 1, reflected in 16 bits
    for (unsigned i = 0; i < exponent; ++i) residue = residue >> 1 ^ (residue & 1 ? vcrc_polynomial : 0u);
    return std::bit_cast<long long>(std::uint64_t{residue} << 48);
}

/// Moves 16 octets on by so many bits: their two halves times powers of x. A carry-less product of reflected words is
/// one x too large, hence the exponents.
template <unsigned Bits>
__attribute__((target("pclmul,sse4.1"))) __m128i moved(__m128i block) noexcept {
    const __m128i by = _mm_set_epi64x(power_of_x(Bits - 1), power_of_x(Bits + 63));
    return _mm_xor_si128(_mm_clmulepi64_si128(block, by, 0x00), _mm_clmulepi64_si128(block, by, 0x11));
}

__attribute__((target("pclmul,sse4.1"))) __m128i loaded(const std::uint8_t* at) noexcept {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
}

/// 16 shuffles of a block, from an offset on: at N its first N octets become the last ones, at 16 + N those behind them
/// the first ones, with zeros for the rest.
constexpr auto block_shifts = [] {
    constexpr std::size_t block = 16;
    constexpr std::uint8_t zero = 0x80;
    std::array<std::uint8_t, 3 * block> shifts{};
    shifts.fill(zero);
    for (std::size_t i = 0; i < block; ++i) shifts[block + i] = static_cast<std::uint8_t>(i);
    return shifts;
}();

/// Folds blocks of 16 octets onto later ones; long frames in four strands, none of which waits for another.
__attribute__((target("pclmul,sse4.1"))) std::uint16_t folded_crc16(std::uint16_t crc, Octets octets) noexcept {
    constexpr std::size_t block = 16, strands = 4;
    // Zeros in front change nothing, so the first block may be one that is not full: what is behind the octets that are
    // there goes to its end. The CRC so far is on the first two octets, which may be of two blocks.
    const auto part = octets.size() % block;
    const auto to_end = loaded(block_shifts.data() + part), to_next = loaded(block_shifts.data() + block + part);
    const __m128i so_far = _mm_cvtsi32_si128(crc);
    const __m128i begin = _mm_shuffle_epi8(_mm_xor_si128(loaded(octets.data()), so_far), to_end);
    const __m128i next = _mm_xor_si128(loaded(octets.data() + part), _mm_shuffle_epi8(so_far, to_next));
    __m128i sum = _mm_xor_si128(moved<128>(begin), next);
    const std::uint8_t* at = octets.data() + part + block;
    std::size_t left = octets.size() - part - block;
    if (left >= strands * block) {
        __m128i first = _mm_setzero_si128(), second = first, third = first, fourth = sum;
        for (; left >= strands * block; at += strands * block, left -= strands * block) {
            first = _mm_xor_si128(moved<512>(first), loaded(at));
            second = _mm_xor_si128(moved<512>(second), loaded(at + block));
            third = _mm_xor_si128(moved<512>(third), loaded(at + 2 * block));
            fourth = _mm_xor_si128(moved<512>(fourth), loaded(at + 3 * block));
        }
        sum = _mm_xor_si128(moved<128>(first), second);
        sum = _mm_xor_si128(moved<128>(sum), third);
        sum = _mm_xor_si128(moved<128>(sum), fourth);
    }
    for (; left; at += block, left -= block) sum = _mm_xor_si128(moved<128>(sum), loaded(at));
    std::array<std::uint8_t, block> rest;
    _mm_storeu_si128(reinterpret_cast<__m128i*>(rest.data()), sum);
    return crc16.update(0, rest);
}

const bool can_fold = __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("sse4.1");

std::uint16_t crc16_of(std::uint16_t crc, Octets octets) noexcept {
    return can_fold && octets.size() >= 32 ? folded_crc16(crc, octets) : crc16.update(crc, octets);
}
#else
std::uint16_t crc16_of(std::uint16_t crc, Octets octets) noexcept { return crc16.update(crc, octets); }
#endif

#ifdef IPOIB_LIBDEFLATE
std::uint32_t crc32(std::uint32_t crc, Octets octets) noexcept {
    return libdeflate_crc32(crc, octets.data(), octets.size());
}
#else
constexpr SlicedCrc<std::uint32_t, 0xedb88320, 8> crc32_tables;
std::uint32_t crc32(std::uint32_t crc, Octets octets) noexcept { return ~crc32_tables.update(~crc, octets); }
#endif

std::uint32_t little_endian(const std::uint8_t* octets, std::size_t count) noexcept {
    std::uint32_t value = 0;
    for (std::size_t i = count; i-- > 0;) value = value << 8 | octets[i];
    return value;
}

void write_little_endian(std::uint8_t* octets, std::size_t count, std::uint32_t value) noexcept {
    for (std::size_t i = 0; i < count; ++i, value >>= 8) octets[i] = static_cast<std::uint8_t>(value);
}

}  // namespace

Tail detect_tail(Octets octets) noexcept {
    const auto to_icrc = View<Lrh>::at(octets)[Lrh::packet_length] * std::size_t{4};
    if (octets.size() >= to_icrc + vcrc_size) return Tail::both;
    if (octets.size() >= to_icrc) return Tail::icrc;
    return octets.size() + icrc_size == to_icrc ? Tail::none : Tail::truncated;
}

std::uint32_t icrc(Octets frame) noexcept {
    constexpr auto longest = Lrh::size + Grh::size + Bth::size;
    std::array<std::uint8_t, longest> head;
    const auto lrh = View<Lrh>::at(frame);
    const bool global = lrh && lrh[Lrh::lnh] == Lnh::global;
    const auto bth_at = global ? Lrh::size + Grh::size : Lrh::size;
    const auto length = bth_at + Bth::size;
    if (frame.size() < length) return crc32(0, frame);

    std::memcpy(head.data(), frame.data(), length);
    if (global) {
        std::memset(head.data(), 0xff, Lrh::size);
        const MutableOctets grh{head.data() + Lrh::size, Grh::size};
        set_field(grh, Grh::traffic_class, std::uint8_t{0xff});
        set_field(grh, Grh::flow_label, 0xfffffu);
        set_field(grh, Grh::hop_limit, std::uint8_t{0xff});
    } else {
        set_field(MutableOctets{head.data(), Lrh::size}, Lrh::vl, std::uint8_t{0xf});
    }
    set_field(MutableOctets{head.data() + bth_at, Bth::size}, Bth::reserved8, std::uint8_t{0xff});
    return crc32(crc32(0, {head.data(), length}), frame.subspan(length));
}

std::uint16_t vcrc(Octets frame) noexcept { return static_cast<std::uint16_t>(~crc16_of(0xffff, frame)); }

CrcResult check_crcs(Octets octets, Tail tail) noexcept {
    CrcResult result;
    if (tail != Tail::both && tail != Tail::icrc) return result;
    const auto to_icrc = View<Lrh>::at(octets)[Lrh::packet_length] * std::size_t{4};
    if (to_icrc < Lrh::size + icrc_size) return result;
    const auto* tail_at = octets.data() + to_icrc - icrc_size;
    const auto seen_icrc = little_endian(tail_at, icrc_size);
    const auto seen_vcrc = tail == Tail::both ? little_endian(tail_at + icrc_size, vcrc_size) : 0;
    if (seen_icrc != 0 || seen_vcrc != 0)
        result.icrc = icrc(octets.first(to_icrc - icrc_size)) == seen_icrc ? Check::good : Check::bad;
    // One frame in 65536 has a VCRC of zero by right.
    if (tail == Tail::both && result.icrc != Check::absent)
        result.vcrc = vcrc(octets.first(to_icrc)) == seen_vcrc ? Check::good
                      : seen_vcrc == 0                         ? Check::absent
                                                               : Check::bad;
    return result;
}

void write_crcs(MutableOctets frame) noexcept {
    if (frame.size() < Lrh::size + icrc_size + vcrc_size) return;
    const auto to_icrc = frame.size() - vcrc_size, data = to_icrc - icrc_size;
    write_little_endian(frame.data() + data, icrc_size, icrc(frame.first(data)));
    write_little_endian(frame.data() + to_icrc, vcrc_size, vcrc(frame.first(to_icrc)));
}

}  // namespace ipoib::wire
