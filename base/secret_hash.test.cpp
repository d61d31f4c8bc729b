// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/secret_hash.hpp"

#include "catch2.hpp"

#include <string>

using namespace ipoib;

namespace {

constexpr std::uint64_t first_key = 0x0706050403020100, second_key = 0x0f0e0d0c0b0a0908;

/// 00 01 02 ... as many as that.
std::string counting(std::size_t size) {
    std::string octets;
    for (std::size_t i = 0; i < size; ++i) octets += static_cast<char>(i);
    return octets;
}

}  // namespace

TEST_CASE("SipHash: the vectors of its authors") {
    // Appendix A of the paper, and vectors.h of the reference implementation (SipHash-2-4-64: lengths 0, 1, 7, 8, 15).
    const auto hash = [](std::size_t size) { return sip_hash<2, 4>(first_key, second_key, counting(size)); };
    CHECK(hash(0) == 0x726fdb47dd0e0e31);
    CHECK(hash(1) == 0x74f839c593dc67fd);
    CHECK(hash(7) == 0xab0200f58b01d137);
    CHECK(hash(8) == 0x93f5f5799a932462);
    CHECK(hash(15) == 0xa129ca6149be45e5);
}

TEST_CASE("SipHash: words are hashed as their octets are") {
    const SecretHash hash;
    CHECK(hash(0x0706050403020100) == hash(counting(8)));
    CHECK(SecretHash::of(first_key, second_key) == hash(counting(16)));
    CHECK(hash(std::uint64_t{0}) != hash(std::string_view{}));
}
