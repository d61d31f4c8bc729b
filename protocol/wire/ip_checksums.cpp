// SPDX-License-Identifier: GPL-2.0-or-later
#include "protocol/wire/ip_checksums.hpp"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace ipoib::wire {
namespace {

/// Of the header with its options. RFC 791, 3.1.
bool has_right_header(const Packet& packet) {
    const auto from = packet.octets.subspan(packet.offset_of(packet.ipv4.data()));
    const auto size = packet.ipv4[Ipv4::header_words] * std::size_t{4};
    return from.size() < size || internet_checksum(from.first(size)) == 0;
}

bool is_whole(const Packet& packet) {
    if (packet.is_fragment || packet.ip_payload.empty()) return false;
    const auto* ip = packet.ipv4 ? packet.ipv4.data() : packet.ipv6.data();
    return packet.offset_of(packet.ip_payload.data()) + packet.ip_payload.size() ==
           packet.offset_of(ip) + packet.ip_length();
}

/// The sum of addresses, length and protocol. RFC 768; RFC 8200, 8.1.
std::uint32_t pseudo_header(const Packet& packet) {
    auto sum = static_cast<std::uint32_t>(packet.ip_payload.size()) + static_cast<std::uint32_t>(packet.ip_protocol);
    const auto add = [&](Octets addresses) {
        for (std::size_t i = 0; i + 1 < addresses.size(); i += 2)
            sum += static_cast<std::uint32_t>(addresses[i] << 8 | addresses[i + 1]);
    };
    if (packet.ipv4)
        add(packet.ipv4.octets().subspan(Ipv4::source.at.bit / 8, 8));
    else
        add(packet.ipv6.octets().subspan(Ipv6::source.at.bit / 8, 32));
    return sum;
}

std::uint64_t folded(std::uint64_t sum) noexcept {
    while (sum >> 16) sum = (sum & 0xffff) + (sum >> 16);
    return sum;
}

#ifdef __SSE2__
/// Of blocks of 16 octets, the octets that count 256 times and those that count once by themselves.
detail::PairSum sum_of_blocks(Octets octets) noexcept {
    constexpr std::size_t block = 16;
    const __m128i zero = _mm_setzero_si128(), low_octets = _mm_set1_epi16(0xff);
    __m128i first = zero, second = zero;
    std::size_t done = 0;
    for (; done + block <= octets.size(); done += block) {
        const auto eight = _mm_loadu_si128(reinterpret_cast<const __m128i*>(octets.data() + done));
        first = _mm_add_epi64(first, _mm_sad_epu8(_mm_and_si128(eight, low_octets), zero));
        second = _mm_add_epi64(second, _mm_sad_epu8(_mm_srli_epi16(eight, 8), zero));
    }
    const auto both = [](__m128i halves) {
        return static_cast<std::uint64_t>(_mm_cvtsi128_si64(halves)) +
               static_cast<std::uint64_t>(_mm_cvtsi128_si64(_mm_unpackhi_epi64(halves, halves)));
    };
    return {(both(first) << 8) + both(second), done};
}
#endif

}  // namespace

namespace detail {
PairSum sum_of_pairs(Octets octets) noexcept {
    PairSum front{0, 0};
#ifdef __SSE2__
    front = sum_of_blocks(octets);
#endif
    // The sum is the same in any byte order, but for that of its own octets: two pairs a step, as they are loaded.
    if (std::endian::native == std::endian::little) {
        std::uint64_t loaded = 0;
        for (std::uint32_t pairs = 0; front.octets + sizeof pairs <= octets.size(); front.octets += sizeof pairs) {
            std::memcpy(&pairs, octets.data() + front.octets, sizeof pairs);
            loaded += pairs;
        }
        front.sum += swapped(static_cast<std::uint16_t>(folded(loaded)));
    }
    return front;
}
}  // namespace detail

bool has_right_checksums(const Packet& packet) noexcept {
    if (!packet.ipv4 && !packet.ipv6) return true;
    if (packet.ipv4 && !has_right_header(packet)) return false;
    if (!is_whole(packet)) return true;
    switch (packet.ip_protocol) {
        case IpProtocol::udp:
            if (packet.udp && packet.udp[Udp::checksum] == 0) return static_cast<bool>(packet.ipv4);
            [[fallthrough]];
        case IpProtocol::tcp:
        case IpProtocol::icmpv6:
            return internet_checksum(packet.ip_payload, pseudo_header(packet)) == 0;
        case IpProtocol::icmp:
        case IpProtocol::igmp:
            return internet_checksum(packet.ip_payload) == 0;
        default:
            return true;
    }
}

}  // namespace ipoib::wire
