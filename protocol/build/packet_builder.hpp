// SPDX-License-Identifier: GPL-2.0-or-later
// The one packet builder of the project: valid by default, a lie only where a field is named.
#pragma once

#include "protocol/build/inline_vector.hpp"
#include "protocol/wire/packet.hpp"

#include <vector>

namespace ipoib::build {

using wire::Octets;

/// Builds one frame out of headers, outermost first. What follows from the rest is filled in by build(): PktLen, LNH,
/// PayLen, PadCnt, the IP and UDP lengths, next header fields, all checksums and both CRCs. A field that was set by
/// name keeps its value even where it contradicts the rest; checksums and CRCs are right for the lie.
class PacketBuilder {
public:
    PacketBuilder() = default;
    /// A decoded frame (LRH on, not truncated) to be built again: without padding, and with right lengths, checksums
    /// and CRCs, whatever it had.
    [[nodiscard]] static PacketBuilder of(const wire::Packet& packet);

    /// Appends a header.
    template <class Header>
    PacketBuilder& add(const wire::Bytes<Header>& header = {}) {
        return append(&wire::spec_of<Header>, header.octets);
    }
    /// Appends octets that are no header: a payload, options.
    PacketBuilder& add(Octets octets) { return append(nullptr, octets); }

    /// Sets a field of the last header of its type added so far, and keeps build() from filling it in.
    template <class Header, class T>
    PacketBuilder& set(const wire::Field<Header, T>& field, const std::type_identity_t<T>& value) {
        const auto index = find(wire::spec_of<Header>);
        wire::set_field(wire::MutableOctets{octets_.data() + layers_[index].begin, Header::size}, field, value);
        return keep(index, field.at);
    }
    /// As set(), for a choice: build() may still fill the field in.
    template <class Header, class T>
    PacketBuilder& choose(const wire::Field<Header, T>& field, const std::type_identity_t<T>& value) {
        const auto& layer = layers_[find(wire::spec_of<Header>)];
        wire::set_field(wire::MutableOctets{octets_.data() + layer.begin, Header::size}, field, value);
        return *this;
    }
    [[nodiscard]] bool has(const wire::HeaderSpec& header) const noexcept;
    /// From the last header of this type to the end, before build(); empty when there is none. Valid until the next
    /// change.
    [[nodiscard]] Octets from(const wire::HeaderSpec& header) const noexcept;
    /// As set(), for a field that is known by its row alone: `octets` hold the value, most significant first, in as
    /// many octets as its bits need.
    PacketBuilder& set(const wire::HeaderSpec& header, const wire::FieldSpec& field, Octets octets);
    /// The last header of this type as it stands, before build(); absent when there is none. Valid until the next
    /// change.
    template <class Header>
    [[nodiscard]] wire::View<Header> get() const noexcept {
        return wire::View<Header>::at(from(wire::spec_of<Header>));
    }
    /// Removes the last header of this type, e.g. the GRH of a multicast packet.
    template <class Header>
    PacketBuilder& remove() {
        return erase(find(wire::spec_of<Header>));
    }
    /// XORs the ICRC or the VCRC with a pattern after it was computed.
    PacketBuilder& damage_icrc(std::uint32_t pattern) { return icrc_damage_ = pattern, *this; }
    PacketBuilder& damage_vcrc(std::uint16_t pattern) { return vcrc_damage_ = pattern, *this; }

    /// What it consists of so far, before build().
    [[nodiscard]] Octets octets() const noexcept { return {octets_.data(), octets_.size()}; }

    /// The whole frame, LRH to VCRC; or the same packet as another kind of capture would show it (docs/captures.md).
    [[nodiscard]] std::vector<std::uint8_t> build(wire::Medium medium = wire::Medium::infiniband) const;

private:
    friend class FrameMaker;
    struct Layer {
        const wire::HeaderSpec* header;  ///< null for octets that are no header
        std::uint32_t begin, size;
        friend bool operator==(const Layer&, const Layer&) = default;
    };
    /// A field that build() leaves alone: its header among the layers, its first bit.
    struct Kept {
        std::uint16_t layer, bit;
        friend bool operator==(const Kept&, const Kept&) = default;
    };
    using Layers = InlineVector<Layer, 12>;
    using KeptFields = InlineVector<Kept, 8>;
    class Plan;
    PacketBuilder& append(const wire::HeaderSpec* header, Octets octets);
    PacketBuilder& keep(std::size_t layer, wire::At at);
    PacketBuilder& erase(std::size_t layer);
    void finish(wire::MutableOctets frame) const noexcept;
    /// The last header of this type among the layers. Throws std::logic_error when there is none.
    [[nodiscard]] std::size_t find(const wire::HeaderSpec& header) const;

    // What a datagram of ordinary size and a MAD need is at hand.
    InlineVector<std::uint8_t, 320> octets_;
    Layers layers_;
    KeptFields kept_;
    std::uint32_t icrc_damage_ = 0;
    std::uint16_t vcrc_damage_ = 0;
};

/// An IPoIB frame, LRH to VCRC, as another kind of capture would show it.
[[nodiscard]] std::vector<std::uint8_t> as_seen_by(wire::Medium medium, Octets frame);

}  // namespace ipoib::build
