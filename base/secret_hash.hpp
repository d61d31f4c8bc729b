// SPDX-License-Identifier: GPL-2.0-or-later
// SipHash-1-3 under a key that each process draws for itself: whoever chooses the keys of a table cannot choose where
// they go. What a hash is, or in which order a table holds its keys, must reach no output and no decision. J.-P.
// Aumasson, D. J. Bernstein, "SipHash: a fast short-input PRF", 2012.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ipoib {

/// One computation; `compressions` and `finalizations` are the c and d of SipHash-c-d.
template <int compressions, int finalizations>
class SipHash {
public:
    constexpr SipHash(std::uint64_t first_key, std::uint64_t second_key) noexcept
        : v0_(first_key ^ 0x736f6d6570736575),
          v1_(second_key ^ 0x646f72616e646f6d),
          v2_(first_key ^ 0x6c7967656e657261),
          v3_(second_key ^ 0x7465646279746573) {}

    /// Eight octets, the least significant first.
    constexpr void add(std::uint64_t word) noexcept {
        v3_ ^= word;
        rounds<compressions>();
        v0_ ^= word;
    }
    /// The end: what of the input fills no word, and the length of all of it modulo 256 in the highest octet.
    [[nodiscard]] constexpr std::uint64_t end(std::uint64_t rest) noexcept {
        add(rest);
        v2_ ^= 0xff;
        rounds<finalizations>();
        return v0_ ^ v1_ ^ v2_ ^ v3_;
    }

private:
    template <int count>
    constexpr void rounds() noexcept {
        for (int i = 0; i < count; ++i) {
            v0_ += v1_;
            v2_ += v3_;
            v1_ = std::rotl(v1_, 13) ^ v0_;
            v3_ = std::rotl(v3_, 16) ^ v2_;
            v0_ = std::rotl(v0_, 32);
            v2_ += v1_;
            v0_ += v3_;
            v1_ = std::rotl(v1_, 17) ^ v2_;
            v3_ = std::rotl(v3_, 21) ^ v0_;
            v2_ = std::rotl(v2_, 32);
        }
    }

    std::uint64_t v0_, v1_, v2_, v3_;
};

/// The hash of octets by SipHash-c-d.
template <int compressions, int finalizations>
[[nodiscard]] constexpr std::uint64_t sip_hash(std::uint64_t first_key, std::uint64_t second_key,
                                               std::string_view octets) noexcept {
    constexpr std::size_t word_size = 8;
    SipHash<compressions, finalizations> sip{first_key, second_key};
    const auto word_at = [octets](std::size_t begin, std::size_t size) {
        std::uint64_t word = 0;
        for (std::size_t i = size; i-- > 0;) word = word << 8 | static_cast<std::uint8_t>(octets[begin + i]);
        return word;
    };
    std::size_t at = 0;
    for (; octets.size() - at >= word_size; at += word_size) sip.add(word_at(at, word_size));
    return sip.end(std::uint64_t{octets.size() & 0xff} << 56 | word_at(at, octets.size() - at));
}

/// Drawn from the system when the process begins, and known to it alone.
extern const std::array<std::uint64_t, 2> hash_key;

/// For tables whose keys come from outside.
struct SecretHash {
    using is_transparent = void;

    template <class... Words>
    [[nodiscard]] static std::size_t of(Words... words) noexcept {
        SipHash<1, 3> sip{hash_key[0], hash_key[1]};
        (sip.add(words), ...);
        return static_cast<std::size_t>(sip.end(std::uint64_t{8 * sizeof...(words)} << 56));
    }
    std::size_t operator()(std::uint64_t word) const noexcept { return of(word); }
    std::size_t operator()(std::string_view text) const noexcept {
        return static_cast<std::size_t>(sip_hash<1, 3>(hash_key[0], hash_key[1], text));
    }
};

}  // namespace ipoib
