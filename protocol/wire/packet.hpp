// SPDX-License-Identifier: GPL-2.0-or-later
// A captured frame taken apart: which headers were found, where each begins, and where decoding stopped and why.
#pragma once

#include "protocol/wire/arp.hpp"
#include "protocol/wire/bth.hpp"
#include "protocol/wire/crc.hpp"
#include "protocol/wire/encap.hpp"
#include "protocol/wire/grh.hpp"
#include "protocol/wire/icmpv6.hpp"
#include "protocol/wire/ip.hpp"
#include "protocol/wire/link_address.hpp"
#include "protocol/wire/lrh.hpp"
#include "protocol/wire/mad.hpp"
#include "protocol/wire/mc_member_record.hpp"
#include "protocol/wire/mgid.hpp"
#include "protocol/wire/rmpp.hpp"
#include "protocol/wire/sa.hpp"

namespace ipoib::wire {

/// What a capture's frames begin with; medium.cpp has a row for each, docs/captures.md tells what each can show.
enum class Medium : std::uint8_t {
    infiniband,  ///< LRH: ibdump (ERF) and rdmasniff (247)
    ipoib,       ///< DLT 242: 20 unused octets, the destination's link-layer address, the encapsulation header
    linux_sll,   ///< "cooked" capture on an IP network device, version 1
    linux_sll2,  ///< the same, version 2
    ethernet,    ///< not InfiniBand; told apart by name only
};
inline constexpr std::size_t medium_count = 5;

/// Parts of a packet that a rule may need. A set of them is a bit mask.
enum class Part : std::uint8_t {
    lrh,
    grh,
    bth,
    deth,
    encap,
    ether_type,  ///< Encap.Type, or the protocol field of a cooked capture
    mgid,
    arp,
    arp_addresses,
    ipv4,
    ipv6,
    udp,
    icmp,
    icmpv6,
    nd,         ///< a Neighbour Discovery message
    nd_source,  ///< Source Link-layer Address option of the right length
    nd_target,  ///< Target Link-layer Address option of the right length
    nd_wrong,   ///< Source or Target Link-layer Address option of another length
    mad,
    sa,
    mc_member,
    ipoib,      ///< the packet is one of IPoIB
    connected,  ///< over a reliable or unreliable connection (RFC 4755)
};
using Parts = std::uint32_t;
template <std::same_as<Part>... P>
constexpr Parts parts(P... part) noexcept {
    return ((Parts{1} << static_cast<unsigned>(part)) | ... | 0u);
}

/// Something that is not RFC 4391 but is known by name. Named, never misread.
enum class Foreign : std::uint8_t {
    none,
    draft_2001_header,   ///< 2-octet encapsulation header (draft-kashyap-ipoib, link-multicast-02)
    draft_2001_address,  ///< 26-octet hardware address in ARP
    draft_p_key,         ///< MGID with a P_Key without membership bit (link-multicast-02)
    draft_ipv6_broadcast,
    roce_v1,
    roce_v2,
    freebsd_ethernet,  ///< FreeBSD's capture of an IPoIB interface: a made-up Ethernet header
    raw_ipv6,          ///< LNH 1: IPv6 straight on the link layer
    raw_packet,        ///< LNH 0
};
/// A name for reports; empty for `none`.
[[nodiscard]] std::string_view name(Foreign) noexcept;

/// Where decoding stopped before the end: the header that was due, its offset, and the octets it needed and had.
struct Stop {
    std::string_view layer{};  ///< name of the header; empty when nothing was missing
    std::size_t offset = 0, needed = 0, available = 0;
    explicit operator bool() const noexcept { return !layer.empty(); }
};

/// A header that only people and state trackers look at: which one, and where it begins.
struct AlsoFound {
    const HeaderSpec* header;
    const std::uint8_t* at;
};

/// A decoded frame. Everything in it points into the octets that were decoded. An absent header is an empty view.
struct Packet {
    Octets octets;
    Medium medium = Medium::infiniband;
    Parts found = 0;
    Tail tail = Tail::truncated;
    Foreign foreign = Foreign::none;
    bool is_multicast = false;  ///< sent to a multicast group, by DLID or by destination address
    bool is_truncated = false;  ///< the capture holds less of it than was on the wire
    bool is_fragment = false;   ///< one of several fragments of an IP packet
    Stop stop;

    View<Lrh> lrh;
    View<Grh> grh;
    View<Bth> bth;
    View<Deth> deth;
    View<ImmDt> immdt;
    View<Aeth> aeth;
    View<Reth> reth;
    View<Mgid> mgid;                ///< GRH.DGID or the destination address' GID, where it is multicast
    View<LinkAddress> destination;  ///< DLT 242 only
    View<Encap> encap;
    EtherType ether_type{};  ///< Encap.Type, or what a cooked capture says
    EtherType content{};     ///< what the datagram is by its own first octets; 0 when it cannot be told
    View<Arp> arp;
    View<ArpAddresses> arp_addresses;
    Octets sender_hardware;  ///< ARP's sender hardware address, whatever its length
    View<Ipv4> ipv4;
    View<Ipv6> ipv6;
    IpProtocol ip_protocol{};  ///< upper-layer protocol, after IPv6 extension headers
    Octets ip_payload;         ///< upper-layer octets as captured, cut to the IP length
    View<Udp> udp;
    View<Icmp> icmp;
    View<Icmpv6> icmpv6;
    View<NdTarget> nd_target;
    Octets nd_options;
    View<LinkAddressOption> source_option, target_option;
    Octets wrong_option;  ///< a Source or Target option whose length is not 3
    View<Mad> mad;
    View<Rmpp> rmpp;
    View<SaHeader> sa;
    View<McMemberRecord> mc_member;
    std::array<AlsoFound, 2> others;  ///< attributes that have no view of their own
    std::size_t others_count = 0;

    /// UD payload (after DETH or immediate data) as captured, without padding and CRCs; the datagram with its
    /// encapsulation header.
    Octets payload;
    std::size_t payload_length = 0;  ///< what the payload had on the wire, by LRH.PktLen

    [[nodiscard]] bool has(Part part) const noexcept { return (found & parts(part)) != 0; }
    [[nodiscard]] bool is_ipoib() const noexcept { return has(Part::ipoib); }
    /// The IP packet's length by its own header (0 when there is none).
    [[nodiscard]] std::size_t ip_length() const noexcept;
    /// Octets from the frame's first octet to `at`, which must point into the frame.
    [[nodiscard]] std::size_t offset_of(const std::uint8_t* at) const noexcept {
        return static_cast<std::size_t>(at - octets.data());
    }

    void also(const HeaderSpec& header, const std::uint8_t* at) noexcept {
        if (others_count < others.size()) others[others_count++] = {&header, at};
    }

    /// The header of this type, if the packet has it.
    template <class Header>
    [[nodiscard]] View<Header> get() const noexcept;
    /// Calls `visit(header, at)` with the HeaderSpec and the first octet of every header found, outermost first.
    template <class Visit>
    void for_each_header(Visit&& visit) const;
};

/// Takes a frame apart as far as it goes. Never fails; `packet.stop` tells what was missing. `wire_length` is what the
/// frame had on the wire (0: as captured). No allocation.
void decode(Octets octets, Packet& packet, Medium medium = Medium::infiniband, std::size_t wire_length = 0) noexcept;
/// A message that came over a connection in several packets, from the encapsulation header on: as one packet, without
/// the headers of InfiniBand. RFC 4755, 4.
void decode_message(Octets message, Packet& packet) noexcept;

namespace detail {
/// Every header of a packet, outermost first.
template <class PacketType, class Visit>
constexpr void visit_headers(PacketType& p, Visit&& visit) {
    visit(p.lrh), visit(p.grh), visit(p.bth), visit(p.deth), visit(p.immdt), visit(p.aeth), visit(p.reth);
    visit(p.destination), visit(p.encap), visit(p.arp), visit(p.arp_addresses), visit(p.ipv4), visit(p.ipv6);
    visit(p.udp), visit(p.icmp), visit(p.icmpv6), visit(p.nd_target), visit(p.source_option), visit(p.target_option);
    visit(p.mad), visit(p.rmpp), visit(p.sa), visit(p.mc_member);
}
}  // namespace detail

template <class Visit>
void Packet::for_each_header(Visit&& visit) const {
    detail::visit_headers(*this, [&]<class Header>(const View<Header>& view) {
        if (view) visit(spec_of<Header>, view.data());
    });
    for (std::size_t i = 0; i < others_count; ++i) visit(*others[i].header, others[i].at);
}

template <class Header>
View<Header> Packet::get() const noexcept {
    if constexpr (std::same_as<Header, Mgid>) return mgid;
    View<Header> found_view;
    detail::visit_headers(*this, [&]<class H>(const View<H>& view) {
        if constexpr (std::same_as<H, Header>)
            if (!found_view) found_view = view;
    });
    for (std::size_t i = 0; i < others_count; ++i)
        if (others[i].header == &spec_of<Header>) found_view = View<Header>::at({others[i].at, Header::size});
    return found_view;
}

}  // namespace ipoib::wire
