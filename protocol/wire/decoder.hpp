// SPDX-License-Identifier: GPL-2.0-or-later
// The walk over one frame that decode() makes; only the decode_*.cpp files and medium.cpp include it.
#pragma once

#include "protocol/wire/packet.hpp"

namespace ipoib::wire::detail {

/// Walks over the octets of one frame; every step notes what was found or why it went no further.
class Decoder {
public:
    Decoder(Packet& packet, std::size_t wire_length) noexcept
        : p(packet), rest(packet.octets), wire_length_(wire_length < rest.size() ? rest.size() : wire_length) {}

private:
    /// How the frames of each medium begin (medium.cpp).
    friend struct Beginnings;
    friend void wire::decode_message(Octets message, Packet& packet) noexcept;

    void infiniband() noexcept;
    void mark(Part part) noexcept { p.found |= parts(part); }
    [[nodiscard]] std::size_t offset() const noexcept { return p.octets.size() - behind_ - rest.size(); }
    bool stop_at(std::string_view layer, std::size_t needed) noexcept {
        if (!p.stop) p.stop = {layer, offset(), needed, rest.size()};
        return false;
    }
    /// Takes a header off the front of what is left, or notes that it is cut.
    template <class Header>
    bool take(View<Header>& view) noexcept {
        view = View<Header>::at(rest);
        if (!view) return stop_at(Header::name, Header::size);
        rest = rest.subspan(Header::size);
        return true;
    }
    /// Takes a header that only people look at.
    template <class Header>
    void also() noexcept {
        View<Header> view;
        if (take(view)) p.also(spec_of<Header>, view.data());
    }
    /// Leaves only the first `length` octets of what is left.
    void limit(std::size_t length) noexcept {
        if (length >= rest.size()) return;
        behind_ += rest.size() - length;
        rest = rest.first(length);
    }

    bool frame_length() noexcept;
    void find_group(const std::uint8_t* gid) noexcept;
    void transport() noexcept;
    bool extended_headers(Opcode opcode) noexcept;
    void connected(Opcode opcode) noexcept;
    void unreliable_datagram() noexcept;
    [[nodiscard]] bool is_ipoib() const noexcept;
    void datagram() noexcept;
    void address_resolution() noexcept;
    void ipv4() noexcept;
    void ipv6() noexcept;
    void upper_layer() noexcept;
    void neighbour_discovery(Icmpv6Type type) noexcept;

    Packet& p;
    Octets rest;
    std::size_t behind_ = 0;  ///< octets of the frame behind `rest`
    std::size_t wire_length_;
};

// What a datagram is, by itself.
inline std::uint16_t be16(Octets octets, std::size_t at) noexcept {
    return static_cast<std::uint16_t>(octets[at] << 8 | octets[at + 1]);
}
[[nodiscard]] bool is_known(EtherType type) noexcept;
/// It has a Type that IEEE may have given to another protocol, which may carry IP behind a header of its own, or
/// without.
[[nodiscard]] bool is_of_another_protocol(EtherType type) noexcept;
[[nodiscard]] bool is_arp_like(EtherType type) noexcept;
/// What a datagram is by its own first octets; 0 when it is nothing known.
[[nodiscard]] EtherType content_of(Octets datagram) noexcept;
/// The content where the datagram proves it: an IP packet of just this length, or ARP with at most one wrong field.
[[nodiscard]] EtherType proven_content(Octets datagram, std::size_t length) noexcept;
/// Whether a datagram of this content fits into `length` octets.
[[nodiscard]] bool could_be(Octets datagram, std::size_t length) noexcept;
/// Whether the datagram is an IP packet of just this length with a right header: proof enough without a known Type.
[[nodiscard]] bool is_exact_ip(Octets datagram, std::size_t length) noexcept;

}  // namespace ipoib::wire::detail
