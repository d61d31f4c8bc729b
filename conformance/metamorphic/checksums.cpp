// SPDX-License-Identifier: GPL-2.0-or-later
// What was changed in a checksum's reach is added to it: a wrong one stays wrong. RFC 1624.
#include "conformance/metamorphic/checksums.hpp"

#include <cstring>
#include <optional>

namespace ipoib::metamorphic {
using namespace wire;

namespace {

/// The sum of 16-bit words, folded: what the complement of a checksum is.
std::uint32_t sum_of(const std::uint8_t* at, std::size_t size) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < size; ++i) sum += i % 2 ? at[i] : std::uint64_t{at[i]} << 8;
    while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
    return static_cast<std::uint32_t>(sum);
}

struct Reach {
    std::size_t begin, size;
};

class Follower {
public:
    Follower(Octets before, MutableOctets changed) : before_(before), changed_(changed) {}

    /// The checksum at `at` covers these.
    void follow(std::size_t at, std::initializer_list<Reach> reaches, bool zero_is_none = false) const {
        const auto old = static_cast<std::uint32_t>(read_bits(before_.data() + at, octet(0), 16));
        if (zero_is_none && old == 0) return;
        std::uint32_t sum = ~old & 0xffff;
        for (const auto& [begin, size] : reaches) {
            sum += sum_of(changed_.data() + begin, size);
            sum += ~sum_of(before_.data() + begin, size) & 0xffff;
        }
        while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
        auto now = ~sum & 0xffff;
        if (zero_is_none && now == 0) now = 0xffff;
        write_bits(changed_.data() + at, octet(0), 16, now);
    }

private:
    Octets before_;
    MutableOctets changed_;
};

/// Where a protocol has its checksum; nothing where it is not known.
std::optional<std::size_t> checksum_of(IpProtocol protocol) {
    constexpr auto tcp = static_cast<IpProtocol>(6);
    constexpr std::size_t in_udp = 6, in_icmpv6 = 2, in_tcp = 16;
    if (protocol == IpProtocol::udp) return in_udp;
    if (protocol == IpProtocol::icmpv6) return in_icmpv6;
    if (protocol == tcp) return in_tcp;
    return {};
}

void follow_up_ip(const Packet& packet, Octets before, MutableOctets changed) {
    const Follower follower{before, changed};
    const auto same = [&](std::size_t begin, std::size_t size) {
        return std::memcmp(before.data() + begin, changed.data() + begin, size) == 0;
    };
    Reach addresses{0, 0};
    constexpr std::size_t word = 4;
    if (packet.ipv4) {
        const auto begin = packet.offset_of(packet.ipv4.data());
        const auto size = std::min(packet.ipv4[Ipv4::header_words] * word, before.size() - begin);
        addresses = {begin + Ipv4::source.at.bit / 8u, 8};
        if (size >= Ipv4::size && !same(begin, size))
            follower.follow(begin + Ipv4::checksum.at.bit / 8u, {{begin, size}});
    } else if (packet.ipv6) {
        addresses = {packet.offset_of(packet.ipv6.data()) + Ipv6::source.at.bit / 8u, 32};
    } else {
        return;
    }
    const auto at = checksum_of(packet.ip_protocol);
    if (!at || packet.ip_payload.size() < *at + 2 || packet.is_fragment) return;
    const Reach upper{packet.offset_of(packet.ip_payload.data()), packet.ip_payload.size()};
    if (same(addresses.begin, addresses.size) && same(upper.begin, upper.size)) return;
    follower.follow(upper.begin + *at, {addresses, upper}, packet.ip_protocol == IpProtocol::udp);
}

}  // namespace

void follow_up_crcs(const Frame& before, MutableOctets changed) {
    if (before.medium != Medium::infiniband || changed.size() < Lrh::size + icrc_size + vcrc_size) return;
    const auto tail = detect_tail(before.octets);
    const auto crcs = check_crcs(before.octets, tail);
    if (tail == Tail::both && (crcs.icrc == Check::good || crcs.vcrc == Check::good)) {
        const auto body = changed.size() - icrc_size - vcrc_size;
        const auto kept = std::vector<std::uint8_t>(changed.begin() + static_cast<std::ptrdiff_t>(body), changed.end());
        write_crcs(changed);
        if (crcs.icrc != Check::good)
            std::copy_n(kept.begin(), icrc_size, changed.begin() + static_cast<std::ptrdiff_t>(body));
        if (crcs.vcrc != Check::good) std::copy_n(kept.begin() + icrc_size, vcrc_size, changed.end() - vcrc_size);
    } else if (tail == Tail::icrc && crcs.icrc == Check::good) {
        const auto body = changed.first(changed.size() - icrc_size);
        const auto crc = icrc(body);
        for (unsigned i = 0; i < icrc_size; ++i) changed[body.size() + i] = static_cast<std::uint8_t>(crc >> 8 * i);
    }
}

void follow_up(const Frame& before, MutableOctets changed) {
    Packet packet;
    decode(before.octets, packet, before.medium, before.wire_length);
    follow_up_ip(packet, before.octets, changed);
    follow_up_crcs(before, changed);
}

}  // namespace ipoib::metamorphic
