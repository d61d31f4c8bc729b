// SPDX-License-Identifier: GPL-2.0-or-later
// What the builder fills in: lengths, padding, next headers, checksums, CRCs.
#include "protocol/build/packet_builder.hpp"

#include "protocol/wire/medium.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace ipoib::build {
using namespace wire;

namespace {

/// Where the octets that build() adds begin.
std::size_t end_of_content(const Packet& packet) {
    const std::size_t tail = packet.tail == Tail::both   ? icrc_size + vcrc_size
                             : packet.tail == Tail::icrc ? icrc_size
                                                         : 0;
    const std::size_t pad = packet.bth ? packet.bth[Bth::pad] : 0;
    return packet.octets.size() - std::min(packet.octets.size(), tail + pad);
}

}  // namespace

PacketBuilder PacketBuilder::of(const Packet& packet) {
    PacketBuilder builder;
    const auto end = end_of_content(packet);
    std::size_t done = 0;
    const auto rest_until = [&](std::size_t next) {
        if (next > done) builder.add(packet.octets.subspan(done, next - done));
        done = next;
    };
    packet.for_each_header([&](const HeaderSpec& header, const std::uint8_t* at) {
        const auto begin = packet.offset_of(at);
        if (begin < done || begin + header.size > end) return;
        rest_until(begin);
        builder.append(&header, packet.octets.subspan(begin, header.size));
        done = begin + header.size;
    });
    rest_until(std::max(done, end));
    return builder;
}

PacketBuilder& PacketBuilder::append(const HeaderSpec* header, Octets octets) {
    layers_.push_back({header, octets_.size(), octets.size()});
    octets_.insert(octets_.end(), octets.begin(), octets.end());
    return *this;
}

PacketBuilder& PacketBuilder::erase(const Layer& layer) {
    const auto first = octets_.begin() + static_cast<std::ptrdiff_t>(layer.begin);
    const auto index = &layer - layers_.data();
    const auto size = layer.size;
    octets_.erase(first, first + static_cast<std::ptrdiff_t>(size));
    layers_.erase(layers_.begin() + index);
    for (auto i = static_cast<std::size_t>(index); i < layers_.size(); ++i) layers_[i].begin -= size;
    return *this;
}

bool PacketBuilder::has(const HeaderSpec& header) const noexcept {
    return std::ranges::any_of(layers_, [&](const Layer& layer) { return layer.header == &header; });
}

Octets PacketBuilder::from(const HeaderSpec& header) const noexcept {
    for (auto layer = layers_.rbegin(); layer != layers_.rend(); ++layer)
        if (layer->header == &header) return Octets{octets_}.subspan(layer->begin);
    return {};
}

PacketBuilder& PacketBuilder::set(const HeaderSpec& header, const FieldSpec& field, Octets octets) {
    auto& layer = find(header);
    auto* const at = octets_.data() + layer.begin;
    constexpr unsigned widest = 64;
    if (field.width <= widest) {
        std::uint64_t value = 0;
        for (const auto octet : octets) value = value << 8 | octet;
        write_bits(at, field.at, field.width, value);
    } else {
        std::copy(octets.begin(), octets.end(), at + field.at.bit / 8);
    }
    layer.kept.push_back(field.at.bit);
    return *this;
}

PacketBuilder::Layer& PacketBuilder::find(const HeaderSpec& header) {
    const auto last =
        std::find_if(layers_.rbegin(), layers_.rend(), [&](const Layer& layer) { return layer.header == &header; });
    if (last == layers_.rend()) throw std::logic_error("the packet has no " + std::string(header.name));
    return *last;
}

/// One frame on its way to being whole.
struct PacketBuilder::Assembly {
    std::vector<std::uint8_t> frame;
    const std::vector<Layer>& layers;

    template <class Header, class T>
    void fill(const Layer& layer, const Field<Header, T>& field, const std::type_identity_t<T>& value) {
        if (std::find(layer.kept.begin(), layer.kept.end(), field.at.bit) == layer.kept.end())
            set_field(at(layer), field, value);
    }
    [[nodiscard]] MutableOctets at(const Layer& layer) { return {frame.data() + layer.begin, layer.size}; }
    [[nodiscard]] Octets from(std::size_t begin) const { return Octets{frame}.subspan(begin); }
    [[nodiscard]] const HeaderSpec* next(std::size_t index) const {
        return index + 1 < layers.size() ? layers[index + 1].header : nullptr;
    }
    [[nodiscard]] std::size_t behind(const Layer& layer) const { return frame.size() - layer.begin - layer.size; }

    void ip(std::size_t index);
    void upper(std::size_t index);
    void infiniband(std::size_t index, std::size_t total, std::size_t pad);
    [[nodiscard]] std::uint32_t pseudo_header(std::size_t index, IpProtocol protocol, std::size_t length) const;
};

namespace {

IpProtocol protocol_of(const HeaderSpec* header, IpProtocol otherwise) {
    if (header == &spec_of<Udp>) return IpProtocol::udp;
    if (header == &spec_of<Icmp>) return IpProtocol::icmp;
    if (header == &spec_of<Icmpv6>) return IpProtocol::icmpv6;
    return otherwise;
}

EtherType type_of(const HeaderSpec* header, EtherType otherwise) {
    if (header == &spec_of<Ipv4>) return EtherType::ipv4;
    if (header == &spec_of<Ipv6>) return EtherType::ipv6;
    if (header == &spec_of<Arp> && otherwise != EtherType::rarp) return EtherType::arp;
    return otherwise;
}

std::uint32_t sum_of(Octets octets) {
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i + 1 < octets.size(); i += 2) sum += static_cast<unsigned>(octets[i] << 8 | octets[i + 1]);
    return sum;
}

}  // namespace

/// The sum of the nearest IP header's addresses with the upper layer's length and protocol. RFC 768; RFC 8200, 8.1.
std::uint32_t PacketBuilder::Assembly::pseudo_header(std::size_t index, IpProtocol protocol, std::size_t length) const {
    const auto rest = static_cast<std::uint32_t>(length) + static_cast<std::uint32_t>(protocol);
    for (std::size_t i = index; i-- > 0;) {
        const auto addresses = from(layers[i].begin);
        if (layers[i].header == &spec_of<Ipv4>) return rest + sum_of(addresses.subspan(12, 8));
        if (layers[i].header == &spec_of<Ipv6>) return rest + sum_of(addresses.subspan(8, 32));
    }
    return rest;
}

void PacketBuilder::Assembly::ip(std::size_t index) {
    const auto& layer = layers[index];
    if (layer.header == &spec_of<Encap>)
        fill(layer, Encap::type, type_of(next(index), View<Encap>::at(at(layer))[Encap::type]));
    if (layer.header == &spec_of<Ipv4>) {
        const auto ip = View<Ipv4>::at(at(layer));
        fill(layer, Ipv4::version, 4);
        if (ip[Ipv4::header_words] == 0) fill(layer, Ipv4::header_words, 5);
        if (ip[Ipv4::ttl] == 0) fill(layer, Ipv4::ttl, 64);
        fill(layer, Ipv4::total_length, static_cast<std::uint16_t>(layer.size + behind(layer)));
        fill(layer, Ipv4::protocol, protocol_of(next(index), ip[Ipv4::protocol]));
        fill(layer, Ipv4::checksum, 0);
        const auto header = std::min(ip[Ipv4::header_words] * std::size_t{4}, frame.size() - layer.begin);
        fill(layer, Ipv4::checksum, internet_checksum(from(layer.begin).first(header)));
    }
    if (layer.header == &spec_of<Ipv6>) {
        const auto ip = View<Ipv6>::at(at(layer));
        fill(layer, Ipv6::version, 6);
        if (ip[Ipv6::hop_limit] == 0) fill(layer, Ipv6::hop_limit, 64);
        fill(layer, Ipv6::payload_length, static_cast<std::uint16_t>(behind(layer)));
        fill(layer, Ipv6::next_header, protocol_of(next(index), ip[Ipv6::next_header]));
    }
}

void PacketBuilder::Assembly::upper(std::size_t index) {
    const auto& layer = layers[index];
    const auto length = layer.size + behind(layer);
    if (layer.header == &spec_of<Udp>) {
        fill(layer, Udp::length, static_cast<std::uint16_t>(length));
        fill(layer, Udp::checksum, 0);
        const auto sum = internet_checksum(from(layer.begin), pseudo_header(index, IpProtocol::udp, length));
        fill(layer, Udp::checksum, sum == 0 ? std::uint16_t{0xffff} : sum);
    } else if (layer.header == &spec_of<Icmp>) {
        fill(layer, Icmp::checksum, 0);
        fill(layer, Icmp::checksum, internet_checksum(from(layer.begin)));
    } else if (layer.header == &spec_of<Icmpv6>) {
        fill(layer, Icmpv6::checksum, 0);
        fill(layer, Icmpv6::checksum,
             internet_checksum(from(layer.begin), pseudo_header(index, IpProtocol::icmpv6, length)));
    }
}

/// `total`: octets before the ICRC, padding included.
void PacketBuilder::Assembly::infiniband(std::size_t index, std::size_t total, std::size_t pad) {
    const auto& layer = layers[index];
    if (layer.header == &spec_of<Lrh>) {
        fill(layer, Lrh::packet_length, static_cast<std::uint16_t>((total + icrc_size) / 4));
        fill(layer, Lrh::lnh, next(index) == &spec_of<Grh> ? Lnh::global : Lnh::local);
    } else if (layer.header == &spec_of<Grh>) {
        fill(layer, Grh::version, 6);
        fill(layer, Grh::next_header, Grh::iba_transport);
        fill(layer, Grh::payload_length, static_cast<std::uint16_t>(total - layer.begin - layer.size + icrc_size));
    } else if (layer.header == &spec_of<Bth>) {
        fill(layer, Bth::pad, static_cast<std::uint8_t>(pad));
    }
}

std::vector<std::uint8_t> as_seen_by(Medium medium, Octets frame) {
    const auto& row = spec(medium);
    if (!row.make_head) return {frame.begin(), frame.end()};
    Packet packet;
    decode(frame, packet);
    MediumSpec::Head head{};
    const auto size = row.make_head(packet, head);
    const bool is_whole = row.has_encap || packet.payload.size() < Encap::size;
    const auto datagram = is_whole ? packet.payload : packet.payload.subspan(Encap::size);
    std::vector<std::uint8_t> seen;
    seen.reserve(size + datagram.size());
    seen.insert(seen.end(), head.begin(), head.begin() + static_cast<std::ptrdiff_t>(size));
    seen.insert(seen.end(), datagram.begin(), datagram.end());
    return seen;
}

std::vector<std::uint8_t> PacketBuilder::build(Medium medium) const {
    Assembly assembly{octets_, layers_};
    // Inner headers first: an outer checksum or length covers them.
    for (std::size_t i = layers_.size(); i-- > 0;) {
        assembly.upper(i);
        assembly.ip(i);
    }
    // The pseudo-header takes part in the upper layer's checksum, so that one is computed again.
    for (std::size_t i = layers_.size(); i-- > 0;) assembly.upper(i);

    auto& frame = assembly.frame;
    const auto pad = (4 - frame.size() % 4) % 4;
    for (std::size_t i = 0; i < layers_.size(); ++i) assembly.infiniband(i, frame.size() + pad, pad);
    frame.insert(frame.end(), pad + icrc_size + vcrc_size, 0);
    write_crcs(frame);
    const auto damage = [&](std::size_t at, std::size_t count, std::uint32_t pattern) {
        for (std::size_t i = 0; i < count; ++i) frame[at + i] ^= static_cast<std::uint8_t>(pattern >> 8 * i);
    };
    // The VCRC covers the ICRC: it is right for a damaged one.
    const auto at_vcrc = frame.size() - vcrc_size;
    const auto right = vcrc(Octets{frame}.first(at_vcrc));
    damage(at_vcrc - icrc_size, icrc_size, icrc_damage_);
    const unsigned follows = vcrc(Octets{frame}.first(at_vcrc)) ^ right;
    damage(at_vcrc, vcrc_size, follows ^ vcrc_damage_);
    return spec(medium).make_head ? as_seen_by(medium, frame) : frame;
}

}  // namespace ipoib::build
