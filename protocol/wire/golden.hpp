// SPDX-License-Identifier: GPL-2.0-or-later
// For tests: golden octets, and the checks that every header's table must pass.
#pragma once

#include "catch2.hpp"
#include "protocol/wire/field.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <vector>

namespace ipoib::wire::golden {

/// Octets written in hex, blanks ignored.
inline std::vector<std::uint8_t> octets(std::string_view hex) {
    std::vector<std::uint8_t> bytes;
    int high = -1;
    for (const char c : hex) {
        if (!std::isxdigit(static_cast<unsigned char>(c))) continue;
        const int digit = c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
        if (high >= 0) bytes.push_back(static_cast<std::uint8_t>(high << 4 | digit));
        high = high >= 0 ? -1 : digit;
    }
    return bytes;
}

/// ARP request of a real fabric: ERF capture "infiniband.pcap" of the Wireshark wiki (2008), LRH to VCRC.
inline std::vector<std::uint8_t> arp_request() {
    return octets(
        "0003c000002100046000000000541b00fe800000000000000002c9020024f636"
        "ff12401bffff000000000000ffffffff6440ffff00ffffff000020af00000b1b"
        "0000040508060000002008001404000180000405fe800000000000000002c902"
        "0024f6360a00012200000000000000000000000000000000000000000a00003a"
        "bd6bd6a88883");
}
/// The unicast reply, from the same capture.
inline std::vector<std::uint8_t> arp_reply() {
    return octets(
        "00020004001700016440ffff00000405000d43bc00000b1b0000040408060000"
        "002008001404000280000404fe800000000000000002c9020020b4dd0a00003a"
        "80000405fe800000000000000002c9020024f6360a00012206e87bdb685c");
}

/// Writes every row of a header, read from the golden octets, into a dirty buffer: the octets must come out the same,
/// and no row may touch what is behind the header. Every truncation must be refused.
template <class Header>
void check_table(Octets golden) {
    CAPTURE(Header::name);
    REQUIRE(golden.size() >= Header::size);
    std::vector<std::uint8_t> dirty(Header::size + 1, 0xa5);
    for (const auto& field : Header::fields) {
        // Long rows go octet by octet, so that the buffer is written with the same two primitives as everything else.
        for (unsigned done = 0; done < field.width;) {
            const unsigned take = std::min(64u, field.width - done);
            const At at{static_cast<std::uint16_t>(field.at.bit + done)};
            write_bits(dirty.data(), at, take, read_bits(golden.data(), at, take));
            done += take;
        }
    }
    CHECK(std::equal(golden.begin(), golden.begin() + Header::size, dirty.begin()));
    CHECK(dirty.back() == 0xa5);
    for (std::size_t length = 0; length < Header::size; ++length) CHECK_FALSE(View<Header>::at(golden.first(length)));
    CHECK(View<Header>::at(golden));
}

}  // namespace ipoib::wire::golden
