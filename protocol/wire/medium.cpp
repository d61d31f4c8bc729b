// SPDX-License-Identifier: GPL-2.0-or-later
// How the frames of each link type begin, both ways: taken apart, and as a capture would show an InfiniBand packet.
#include "protocol/wire/medium.hpp"

#include "protocol/wire/decoder.hpp"

#include <algorithm>

namespace ipoib::wire {
namespace detail {
namespace {

constexpr std::size_t dlt_242_unused = 20;
constexpr std::uint16_t arphrd_infiniband = 32;
/// Who a cooked packet was for.
constexpr std::uint8_t to_host = 0, to_broadcast = 1, to_multicast = 2;
/// Of the sender's link-layer address a cooked capture shows the first octets only.
constexpr std::size_t address_shown = 8;

/// Where the fields of a "cooked" header are.
struct Cooked {
    std::size_t size, protocol, hardware, kind, address_length, address;
};
constexpr Cooked cooked1{.size = 16, .protocol = 14, .hardware = 2, .kind = 1, .address_length = 5, .address = 6};
constexpr Cooked cooked2{.size = 20, .protocol = 0, .hardware = 8, .kind = 10, .address_length = 11, .address = 12};

void put_be16(MediumSpec::Head& head, std::size_t at, std::uint16_t value) noexcept {
    head[at] = static_cast<std::uint8_t>(value >> 8);
    head[at + 1] = static_cast<std::uint8_t>(value);
}

}  // namespace

struct Beginnings {
    static void infiniband(Decoder& d) noexcept { d.infiniband(); }

    /// Whether the header is there; else it is noted that it is cut.
    static bool begin(Decoder& d, std::string_view header, std::size_t size) noexcept {
        d.p.is_truncated = d.wire_length_ > d.p.octets.size();
        if (d.rest.size() < size) return d.stop_at(header, size);
        d.rest = d.rest.subspan(size);
        return true;
    }

    static void dlt_242(Decoder& d) noexcept {
        if (!begin(d, "DLT 242 header", dlt_242_unused) || !d.take(d.p.destination)) return;
        d.find_group(d.p.destination.data() + LinkAddress::gid.at.bit / 8);
        d.p.is_multicast = static_cast<bool>(d.p.mgid);
        d.p.payload = d.rest;
        d.p.payload_length = d.wire_length_ - dlt_242_unused - LinkAddress::size;
        d.datagram();
    }

    /// What a capture on the IP network device shows.
    static void cooked(Decoder& d, const Cooked& header) noexcept {
        if (!begin(d, "cooked header", header.size)) return;
        auto& p = d.p;
        p.ether_type = EtherType{be16(p.octets, header.protocol)};
        if (be16(p.octets, header.hardware) != arphrd_infiniband) return;
        const auto kind = p.octets[header.kind];
        p.is_multicast = kind == to_broadcast || kind == to_multicast;
        d.mark(Part::ether_type);
        d.mark(Part::ipoib);
        p.payload = d.rest;
        p.payload_length = d.wire_length_ - header.size;
        p.content = content_of(d.rest);
        if (p.ether_type == EtherType::ipv4 && p.content == EtherType::ipv4) d.ipv4();
        if (p.ether_type == EtherType::ipv6 && p.content == EtherType::ipv6) d.ipv6();
        if (is_arp_like(p.ether_type)) d.address_resolution();
    }
    static void sll(Decoder& d) noexcept { cooked(d, cooked1); }
    static void sll2(Decoder& d) noexcept { cooked(d, cooked2); }

    /// No link type of InfiniBand: only names what people take for IPoIB by mistake.
    static void ethernet(Decoder& d) noexcept {
        constexpr std::size_t header = 14, addresses = 12;
        constexpr std::uint16_t roce_v1_type = 0x8915, roce_v2_port = 4791;
        if (!begin(d, "Ethernet header", header)) return;
        auto& p = d.p;
        std::uint8_t any = 0;
        for (const auto o : p.octets.first(addresses)) any |= o;
        const auto type = be16(p.octets, addresses);
        const auto arp = View<Arp>::at(d.rest);
        const bool is_ib_arp = type == 0x0806 && arp && arp[Arp::hardware] == Arp::infiniband;
        if (type == roce_v1_type) p.foreign = Foreign::roce_v1;
        if (is_ib_arp || (any == 0 && is_known(EtherType{type}))) p.foreign = Foreign::freebsd_ethernet;
        if (p.foreign != Foreign::none) return;
        if (type == 0x0800) d.ipv4();
        if (type == 0x86dd) d.ipv6();
        if (p.udp && p.udp[Udp::destination] == roce_v2_port) p.foreign = Foreign::roce_v2;
    }
};

namespace {

std::size_t make_242(const Packet& packet, MediumSpec::Head& head) noexcept {
    Bytes<LinkAddress> destination;
    destination.set(LinkAddress::qpn, packet.bth ? packet.bth[Bth::dest_qp] : 0);
    if (packet.grh) destination.set(LinkAddress::gid, packet.grh[Grh::dgid]);
    std::ranges::copy(destination.octets, head.begin() + dlt_242_unused);
    return dlt_242_unused + LinkAddress::size;
}

std::size_t make_cooked(const Packet& packet, MediumSpec::Head& head, const Cooked& header) noexcept {
    Bytes<LinkAddress> sender;
    sender.set(LinkAddress::qpn, packet.deth ? packet.deth[Deth::src_qp] : 0);
    if (packet.grh) sender.set(LinkAddress::gid, packet.grh[Grh::sgid]);
    const bool is_broadcast = packet.grh && is_broadcast_gid(packet.grh[Grh::dgid]);
    head[header.kind] = !packet.is_multicast ? to_host : is_broadcast ? to_broadcast : to_multicast;
    put_be16(head, header.hardware, arphrd_infiniband);
    put_be16(head, header.protocol, static_cast<std::uint16_t>(packet.ether_type));
    head[header.address_length] = LinkAddress::size;
    std::copy_n(sender.octets.begin(), address_shown, head.begin() + static_cast<std::ptrdiff_t>(header.address));
    return header.size;
}
std::size_t make_sll(const Packet& packet, MediumSpec::Head& head) noexcept {
    return make_cooked(packet, head, cooked1);
}
std::size_t make_sll2(const Packet& packet, MediumSpec::Head& head) noexcept {
    constexpr std::size_t interface_index = 4;
    constexpr std::uint16_t any_interface = 2;
    put_be16(head, interface_index + 2, any_interface);
    return make_cooked(packet, head, cooked2);
}

constexpr Parts infiniband_only =
    parts(Part::lrh, Part::grh, Part::bth, Part::deth, Part::mad, Part::sa, Part::mc_member, Part::connected);
constexpr Parts of_device = ~(infiniband_only | parts(Part::encap, Part::mgid));

constexpr std::array<MediumSpec, medium_count> medium_rows{{
    {Medium::infiniband, 247, "INFINIBAND", "infiniband", ~Parts{0}, Beginnings::infiniband},
    {Medium::ipoib, 242, "IPOIB", "ipoib", ~infiniband_only, Beginnings::dlt_242, make_242, true},
    {Medium::linux_sll, 113, "LINUX_SLL", "sll", of_device, Beginnings::sll, make_sll},
    {Medium::linux_sll2, 276, "LINUX_SLL2", "sll2", of_device, Beginnings::sll2, make_sll2},
    {Medium::ethernet, 1, "ETHERNET", "", 0, Beginnings::ethernet},
}};
constexpr bool are_in_order() {
    for (std::size_t i = 0; i < medium_rows.size(); ++i)
        if (medium_rows[i].medium != static_cast<Medium>(i)) return false;
    return true;
}
static_assert(are_in_order());

}  // namespace
}  // namespace detail

std::span<const MediumSpec, medium_count> media() noexcept { return detail::medium_rows; }

const MediumSpec& spec(Medium medium) noexcept { return detail::medium_rows[static_cast<std::size_t>(medium)]; }

const MediumSpec* find_medium(std::uint16_t link_type) noexcept {
    const auto found = std::ranges::find(detail::medium_rows, link_type, &MediumSpec::link_type);
    return found == detail::medium_rows.end() ? nullptr : &*found;
}

}  // namespace ipoib::wire
