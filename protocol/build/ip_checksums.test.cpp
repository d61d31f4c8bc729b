// SPDX-License-Identifier: GPL-2.0-or-later
#include "protocol/wire/ip_checksums.hpp"

#include "catch2.hpp"
#include "protocol/build/packet_builder.hpp"
#include "protocol/build/samples.hpp"

#include <array>

namespace ipoib::wire {
namespace {

using Frame = std::vector<std::uint8_t>;

Packet decoded(Octets frame) {
    Packet packet;
    decode(frame, packet);
    return packet;
}

std::vector<Frame> messages() {
    const auto a = build::samples::host(1), b = build::samples::host(2);
    const auto all_nodes = Gid::of(std::uint64_t{0xff02} << 48, 1);
    return {build::udp(a, b, {}, 5).build(), build::echo_request(a, b, {}, 8).build(),
            build::echo_request6(a, b, {}, 7).build(), build::neighbour_solicitation(a, b.ipv6, 0xc001, {}).build(),
            build::udp6_to_group(a, all_nodes, 0xc002, {}, 5).build()};
}

/// Pair by pair, as RFC 1071 has it.
unsigned sum_of_pairs(Octets octets, unsigned start) {
    auto sum = start;
    for (std::size_t i = 0; i < octets.size(); ++i) sum += i % 2 ? octets[i] : octets[i] * 256u;
    while (sum > 0xffff) sum = sum % 0x10000 + sum / 0x10000;
    return 0xffff - sum;
}

}  // namespace

TEST_CASE("Checksums: the sum is that of pair by pair, for every length and wherever it begins") {
    std::vector<std::uint8_t> octets(200);
    for (std::size_t i = 0; i < octets.size(); ++i) octets[i] = static_cast<std::uint8_t>(255 - i * i % 251);
    for (std::size_t begin = 0; begin < 8; ++begin)
        for (std::size_t length = 0; begin + length <= octets.size(); ++length)
            for (const unsigned start : {0u, 0xffffu, 0x2ffffu}) {
                CAPTURE(begin, length, start);
                const auto part = Octets{octets}.subspan(begin, length);
                REQUIRE(internet_checksum(part, start) == sum_of_pairs(part, start));
            }
    const std::vector<std::uint8_t> ones(65534, 0xff);
    CHECK(internet_checksum(ones) == 0);
    static_assert(internet_checksum(std::array<std::uint8_t, 3>{0x12, 0x34, 0x56}) == 0xffff - 0x6834);
}

TEST_CASE("Checksums: one octet that is wrong makes an IP packet wrong") {
    for (const auto& frame : messages()) {
        const auto right = decoded(frame);
        CAPTURE(static_cast<int>(right.ip_protocol));
        CHECK(has_right_checksums(right));
        const auto begin = right.offset_of(right.ip_payload.data());
        for (auto at = begin; at < begin + right.ip_payload.size(); ++at) {
            auto damaged = frame;
            damaged[at] ^= 0x10;
            CAPTURE(at - begin);
            CHECK_FALSE(has_right_checksums(decoded(damaged)));
        }
        if (!right.ipv4) continue;
        for (const std::size_t in_header : std::array<std::size_t, 7>{1, 4, 8, 10, 11, 12, 19}) {
            auto damaged = frame;
            damaged[right.offset_of(right.ipv4.data()) + in_header] ^= 0x10;
            CHECK_FALSE(has_right_checksums(decoded(damaged)));
        }
    }
}

TEST_CASE("Checksums: UDP may have none over IPv4, and must have one over IPv6") {
    const auto a = build::samples::host(1), b = build::samples::host(2);
    const auto all_nodes = Gid::of(std::uint64_t{0xff02} << 48, 1);
    CHECK(has_right_checksums(decoded(build::udp(a, b, {}, 5).set(Udp::checksum, 0).build())));
    CHECK_FALSE(
        has_right_checksums(decoded(build::udp6_to_group(a, all_nodes, 0xc002, {}, 5).set(Udp::checksum, 0).build())));
}

TEST_CASE("Checksums: what is not there as a whole, or is no IP, has none that could be wrong") {
    for (const auto& frame : messages()) {
        const auto whole = decoded(frame);
        const auto end = whole.offset_of(whole.ip_payload.data()) + whole.ip_payload.size();
        for (std::size_t size = 0; size < end; ++size) {
            CAPTURE(size);
            CHECK(has_right_checksums(decoded(Octets{frame}.first(size))));
        }
    }
    const auto a = build::samples::host(1), b = build::samples::host(2);
    CHECK(has_right_checksums(decoded(build::arp_request(a, b.ipv4, {}).build())));
    constexpr std::uint8_t more_fragments = 1;
    CHECK(has_right_checksums(
        decoded(build::udp(a, b, {}, 16).set(Ipv4::flags, more_fragments).set(Udp::checksum, 1).build())));
}

}  // namespace ipoib::wire
