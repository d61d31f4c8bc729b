// SPDX-License-Identifier: GPL-2.0-or-later
// Headers that follow each other, and what is set in them.
#include "protocol/build/packet_builder.hpp"

#include "protocol/build/frame_maker.hpp"
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
    // Octets behind octets are one layer; none are none.
    if (!header && layers_.size() > 0 && !layers_[layers_.size() - 1].header)
        layers_[layers_.size() - 1].size += static_cast<std::uint32_t>(octets.size());
    else if (header || !octets.empty())
        layers_.push_back(
            {header, static_cast<std::uint32_t>(octets_.size()), static_cast<std::uint32_t>(octets.size())});
    octets_.append(octets);
    return *this;
}

PacketBuilder& PacketBuilder::keep(std::size_t layer, At at) {
    kept_.push_back({static_cast<std::uint16_t>(layer), at.bit});
    return *this;
}

PacketBuilder& PacketBuilder::erase(std::size_t layer) {
    const auto [_, begin, size] = layers_[layer];
    octets_.erase(begin, size);
    layers_.erase(layer, 1);
    for (auto i = layer; i < layers_.size(); ++i) layers_[i].begin -= size;
    for (auto i = kept_.size(); i-- > 0;) {
        if (kept_[i].layer == layer)
            kept_.erase(i, 1);
        else if (kept_[i].layer > layer)
            --kept_[i].layer;
    }
    return *this;
}

bool PacketBuilder::has(const HeaderSpec& header) const noexcept {
    return std::ranges::any_of(layers_, [&](const Layer& layer) { return layer.header == &header; });
}

Octets PacketBuilder::from(const HeaderSpec& header) const noexcept {
    for (auto i = layers_.size(); i-- > 0;)
        if (layers_[i].header == &header) return octets().subspan(layers_[i].begin);
    return {};
}

PacketBuilder& PacketBuilder::set(const HeaderSpec& header, const FieldSpec& field, Octets octets) {
    const auto index = find(header);
    auto* const at = octets_.data() + layers_[index].begin;
    constexpr unsigned widest = 64;
    if (field.width <= widest) {
        std::uint64_t value = 0;
        for (const auto octet : octets) value = value << 8 | octet;
        write_bits(at, field.at, field.width, value);
    } else {
        std::copy(octets.begin(), octets.end(), at + field.at.bit / 8);
    }
    return keep(index, field.at);
}

std::size_t PacketBuilder::find(const HeaderSpec& header) const {
    for (auto i = layers_.size(); i-- > 0;)
        if (layers_[i].header == &header) return i;
    throw std::logic_error("the packet has no " + std::string(header.name));
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

/// Both CRCs, as wrong as they are to be.
void PacketBuilder::finish(MutableOctets frame) const noexcept {
    write_crcs(frame);
    if (icrc_damage_ == 0 && vcrc_damage_ == 0) return;
    const auto damage = [&](std::size_t at, std::size_t count, std::uint32_t pattern) {
        for (std::size_t i = 0; i < count; ++i) frame[at + i] ^= static_cast<std::uint8_t>(pattern >> 8 * i);
    };
    // The VCRC covers the ICRC: it is right for a damaged one.
    const auto at_vcrc = frame.size() - vcrc_size;
    const auto right = vcrc(Octets{frame}.first(at_vcrc));
    damage(at_vcrc - icrc_size, icrc_size, icrc_damage_);
    const unsigned follows = vcrc(Octets{frame}.first(at_vcrc)) ^ right;
    damage(at_vcrc, vcrc_size, follows ^ vcrc_damage_);
}

std::vector<std::uint8_t> PacketBuilder::build(Medium medium) const {
    auto frame = FrameMaker::one(*this);
    return spec(medium).make_head ? as_seen_by(medium, frame) : frame;
}

}  // namespace ipoib::build
