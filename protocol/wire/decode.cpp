// SPDX-License-Identifier: GPL-2.0-or-later
// Taking a frame apart: IBTA Vol 1, 7 to 9; foreign formats that must not be misread.
#include "protocol/wire/decode_management.hpp"
#include "protocol/wire/decoder.hpp"
#include "protocol/wire/medium.hpp"

#include <algorithm>

namespace ipoib::wire {
namespace detail {

bool Decoder::frame_length() noexcept {
    const auto to_icrc = p.lrh[Lrh::packet_length] * std::size_t{4};
    p.tail = detect_tail(p.octets);
    p.is_truncated = p.tail == Tail::truncated || wire_length_ > p.octets.size();
    if (to_icrc < Lrh::size + icrc_size) return stop_at("LRH.PktLen", Lrh::size + icrc_size);
    limit(to_icrc - icrc_size - Lrh::size);
    return true;
}

void Decoder::find_group(const std::uint8_t* gid) noexcept {
    if (gid[0] != 0xff) return;
    p.mgid = View<Mgid>::at({gid, Mgid::size});
    mark(Part::mgid);
}

void Decoder::infiniband() noexcept {
    if (!take(p.lrh)) {
        p.is_truncated = true;
        return;
    }
    mark(Part::lrh);
    if (!frame_length()) return;
    const auto lnh = p.lrh[Lrh::lnh];
    if (lnh == Lnh::ipv6 || lnh == Lnh::raw) {
        p.foreign = lnh == Lnh::ipv6 ? Foreign::raw_ipv6 : Foreign::raw_packet;
        return;
    }
    if (lnh == Lnh::global) {
        if (!take(p.grh)) return;
        mark(Part::grh);
        if (p.grh[Grh::next_header] != Grh::iba_transport) return;
        find_group(p.grh.data() + Grh::dgid.at.bit / 8);
    }
    p.is_multicast = is_multicast_lid(p.lrh[Lrh::dlid]) || p.mgid;
    transport();
}

void Decoder::transport() noexcept {
    if (!take(p.bth)) return;
    mark(Part::bth);
    const auto opcode = p.bth[Bth::opcode];
    if (!extended_headers(opcode)) return;

    const auto data = p.lrh[Lrh::packet_length] * std::size_t{4} - icrc_size;
    const auto before = offset() + p.bth[Bth::pad];
    p.payload_length = data > before ? data - before : 0;
    limit(p.payload_length);
    p.payload = rest;
    if (p.deth) {
        unreliable_datagram();
    } else if (service_of(opcode) <= TransportService::unreliable_connection) {
        connected(opcode);
    }
}

/// The extended headers by operation code. IBTA Vol 1, 9.2.1, table of operation codes.
bool Decoder::extended_headers(Opcode opcode) noexcept {
    using enum Operation;
    const auto operation = operation_of(opcode);
    if (service_of(opcode) == TransportService::unreliable_datagram) {
        if (!take(p.deth)) return false;
        mark(Part::deth);
    }
    const bool has_reth = operation == rdma_write_first || operation == rdma_write_only ||
                          operation == rdma_write_only_immediate || operation == rdma_read_request;
    const bool has_aeth = operation == rdma_read_response_first ||
                          (operation >= rdma_read_response_last && operation <= atomic_acknowledge);
    const bool has_immediate = operation == send_last_immediate || operation == send_only_immediate ||
                               operation == rdma_write_last_immediate || operation == rdma_write_only_immediate;
    if (has_reth && !take(p.reth)) return false;
    if (has_aeth && !take(p.aeth)) return false;
    return !has_immediate || take(p.immdt);
}

/// Other programs use connections too: only what is an IP packet beyond doubt is taken for IPoIB. RFC 4755, 4.
void Decoder::connected(Opcode opcode) noexcept {
    const auto operation = operation_of(opcode);
    const auto encap = View<Encap>::at(rest);
    if ((operation != Operation::send_first && operation != Operation::send_only) || !encap) return;
    if (is_of_another_protocol(encap[Encap::type])) return;
    const auto inner = rest.subspan(Encap::size);
    const auto content = content_of(inner);
    const auto length = p.payload_length - Encap::size;
    const bool is_named = encap[Encap::type] == content || encap[Encap::reserved] == 0;
    const bool is_whole = operation == Operation::send_only && is_named && is_exact_ip(inner, length);
    const bool is_first = operation == Operation::send_first &&
                          (content == EtherType::ipv4 || content == EtherType::ipv6) && encap[Encap::type] == content &&
                          encap[Encap::reserved] == 0;
    if (!is_whole && !is_first) return;
    mark(Part::connected);
    datagram();
}

void Decoder::unreliable_datagram() noexcept {
    const auto dest_qp = p.bth[Bth::dest_qp];
    if (is_ipoib()) {
        datagram();
    } else if (dest_qp <= 1 && !p.is_multicast) {
        decode_management(p, rest);
    }
}

/// UD queue pairs carry other programs' messages too: without an MGID of IPoIB the datagram must prove itself, as
/// far as the capture reaches.
bool Decoder::is_ipoib() const noexcept {
    if (p.mgid && has_ipoib_signature(p.grh[Grh::dgid])) return true;
    const auto encap = View<Encap>::at(rest);
    if (!encap) return false;
    const auto datagram = rest.subspan(Encap::size), draft_datagram = rest.subspan(2);
    const auto type = encap[Encap::type];
    const auto length = p.payload_length - std::min(p.payload_length, Encap::size);
    // The usual case first: it is also the cheapest.
    if (is_known(type) && content_of(datagram) == type && could_be(datagram, length)) return true;
    if (!is_of_another_protocol(type) && proven_content(datagram, length) != EtherType{}) return true;
    if (!is_known(type)) return false;
    if (proven_content(draft_datagram, length + 2) == type) return true;
    const bool is_cut_before_proof = p.is_truncated && datagram.size() < Arp::size;
    return is_cut_before_proof && encap[Encap::reserved] == 0;
}

}  // namespace detail

std::string_view name(Foreign foreign) noexcept {
    switch (foreign) {
        case Foreign::none:
            return {};
        case Foreign::draft_2001_header:
            return "2-octet encapsulation header of the drafts before RFC 4391";
        case Foreign::draft_2001_address:
            return "26-octet hardware address of draft-kashyap-ipoib (2001)";
        case Foreign::draft_p_key:
            return "MGID with a P_Key without membership bit, as in link-multicast-02";
        case Foreign::draft_ipv6_broadcast:
            return "IPv6 broadcast group of its own, as in link-multicast-02 and -03";
        case Foreign::roce_v1:
            return "RoCE version 1, not InfiniBand";
        case Foreign::roce_v2:
            return "RoCE version 2, not InfiniBand";
        case Foreign::freebsd_ethernet:
            return "FreeBSD's made-up Ethernet header before IPoIB";
        case Foreign::raw_ipv6:
            return "raw IPv6 packet (LNH 1)";
        case Foreign::raw_packet:
            return "raw packet (LNH 0)";
    }
    return {};
}

std::size_t Packet::ip_length() const noexcept {
    if (ipv4) return ipv4[Ipv4::total_length];
    if (ipv6) return Ipv6::size + ipv6[Ipv6::payload_length];
    return 0;
}

void decode_message(Octets message, Packet& packet) noexcept {
    packet = Packet{};
    packet.octets = packet.payload = message;
    packet.payload_length = message.size();
    detail::Decoder decoder{packet, message.size()};
    decoder.datagram();
    if (packet.ipv4 || packet.ipv6) packet.found |= parts(Part::connected);
}

void decode(Octets octets, Packet& packet, Medium medium, std::size_t wire_length) noexcept {
    packet = Packet{};
    packet.octets = octets;
    packet.medium = medium;
    detail::Decoder decoder{packet, wire_length};
    spec(medium).decode(decoder);
}

}  // namespace ipoib::wire
