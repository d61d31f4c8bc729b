// SPDX-License-Identifier: GPL-2.0-or-later
// Taking a datagram apart: RFC 4391, 6; ARP, IP and Neighbour Discovery. What it is by its own first octets.
#include "protocol/wire/decoder.hpp"
#include "protocol/wire/dhcp.hpp"
#include "protocol/wire/igmp.hpp"
#include "protocol/wire/mld.hpp"

#include <algorithm>

namespace ipoib::wire::detail {
namespace {

constexpr std::size_t most_ipv6_extensions = 8;
constexpr std::size_t draft_hardware_length = 26;

bool is_or_swapped(std::uint16_t value, std::uint16_t wanted) noexcept {
    return value == wanted || swapped(value) == wanted;
}

/// How many of ARP's constant fields are right: one wrong field must not hide the packet.
int right_arp_fields(View<Arp> arp) noexcept {
    const auto hardware = arp[Arp::hardware], operation = arp[Arp::operation];
    const auto length = arp[Arp::hardware_length];
    const bool is_operation = (operation >= 1 && operation <= 9) || (operation != 0 && (operation & 0xff) == 0);
    return is_or_swapped(hardware, Arp::infiniband) + is_or_swapped(arp[Arp::protocol], 0x0800) +
           (arp[Arp::protocol_length] == 4) + is_operation +
           (length == LinkAddress::size || length == draft_hardware_length);
}

bool is_dhcp(View<Udp> udp) noexcept {
    constexpr std::uint16_t server = 67, client = 68;
    const auto port = udp[Udp::destination];
    return port == server || port == client;
}

}  // namespace

bool is_known(EtherType type) noexcept {
    return type == EtherType::ipv4 || type == EtherType::ipv6 || type == EtherType::arp || type == EtherType::rarp;
}
bool is_of_another_protocol(EtherType type) noexcept {
    constexpr std::uint16_t least_type = 0x0600;
    const auto number = static_cast<std::uint16_t>(type);
    return number >= least_type && !is_known(type) && !is_known(EtherType{swapped(number)});
}
bool is_arp_like(EtherType type) noexcept { return type == EtherType::arp || type == EtherType::rarp; }

EtherType content_of(Octets o) noexcept {
    if (o.empty()) return EtherType{};
    if (o[0] >> 4 == 4 && (o[0] & 0xf) >= 5) return EtherType::ipv4;
    if (o[0] >> 4 == 6) return EtherType::ipv6;
    const auto arp = View<Arp>::at(o);
    if (!arp || right_arp_fields(arp) < 3) return EtherType{};
    const auto operation = arp[Arp::operation];
    return operation == Arp::reverse_request || operation == Arp::reverse_reply ? EtherType::rarp : EtherType::arp;
}

bool is_exact_ip(Octets o, std::size_t length) noexcept {
    const auto content = content_of(o);
    if (content == EtherType::ipv4 && o.size() >= Ipv4::size) {
        const auto ip = View<Ipv4>::at(o);
        const auto header = ip[Ipv4::header_words] * std::size_t{4};
        return ip[Ipv4::total_length] == length && o.size() >= header && internet_checksum(o.first(header)) == 0;
    }
    const auto ip = View<Ipv6>::at(o);
    return content == EtherType::ipv6 && ip && ip[Ipv6::payload_length] + Ipv6::size == length;
}

EtherType proven_content(Octets o, std::size_t length) noexcept {
    const auto content = content_of(o);
    const bool is_arp = is_arp_like(content);
    return (is_arp ? right_arp_fields(View<Arp>::at(o)) >= 4 : is_exact_ip(o, length)) ? content : EtherType{};
}

bool could_be(Octets o, std::size_t length) noexcept {
    const auto content = content_of(o);
    if (is_arp_like(content)) return right_arp_fields(View<Arp>::at(o)) >= 4;
    if (content == EtherType::ipv4 && o.size() >= Ipv4::size) {
        const auto total = View<Ipv4>::at(o)[Ipv4::total_length];
        return total >= Ipv4::size && total <= length;
    }
    if (content == EtherType::ipv6 && o.size() >= Ipv6::size)
        return View<Ipv6>::at(o)[Ipv6::payload_length] + Ipv6::size <= length;
    return content != EtherType{} && o.size() < length;  // cut
}

void Decoder::datagram() noexcept {
    mark(Part::ipoib);
    const auto head = View<Encap>::at(rest);
    if (head && is_known(head[Encap::type]) && content_of(rest.subspan(Encap::size)) == EtherType{} &&
        content_of(rest.subspan(2)) != EtherType{}) {
        p.foreign = Foreign::draft_2001_header;
        p.ether_type = head[Encap::type];
        rest = rest.subspan(2);
    } else {
        if (!take(p.encap)) return;
        mark(Part::encap);
        p.ether_type = p.encap[Encap::type];
    }
    mark(Part::ether_type);
    const auto raw_type = static_cast<std::uint16_t>(p.ether_type);
    const bool is_ours = is_known(p.ether_type) || is_known(EtherType{swapped(raw_type)});
    // What is no Type at all is a mistake, but there one nibble is no sign of IP.
    const auto length = p.payload_length - std::min(p.payload_length, Encap::size);
    p.content = is_ours                                ? content_of(rest)
                : is_of_another_protocol(p.ether_type) ? EtherType{}
                                                       : proven_content(rest, length);
    // The datagram's own first octets win over a Type that contradicts them: the rest can still be judged.
    const auto type = p.content != EtherType{} ? p.content : p.ether_type;
    if (type == EtherType::ipv4) ipv4();
    if (type == EtherType::ipv6) ipv6();
    if (is_arp_like(type)) address_resolution();
    if (p.foreign == Foreign::none && p.mgid && p.grh) {
        const auto dgid = p.grh[Grh::dgid];
        if (has_draft_p_key(dgid)) p.foreign = Foreign::draft_p_key;
        if (is_draft_ipv6_broadcast(dgid) && p.arp) p.foreign = Foreign::draft_ipv6_broadcast;
    }
}

void Decoder::address_resolution() noexcept {
    if (!take(p.arp)) return;
    mark(Part::arp);
    const std::size_t hardware = p.arp[Arp::hardware_length], protocol = p.arp[Arp::protocol_length];
    if (hardware == draft_hardware_length) p.foreign = Foreign::draft_2001_address;
    if (rest.size() < hardware) {
        stop_at("ARP addresses", 2 * (hardware + protocol));
        return;
    }
    p.sender_hardware = rest.first(hardware);
    if (hardware != LinkAddress::size || protocol != 4) return;
    if (take(p.arp_addresses)) mark(Part::arp_addresses);
}

void Decoder::ipv4() noexcept {
    if (!take(p.ipv4)) return;
    mark(Part::ipv4);
    const auto header = p.ipv4[Ipv4::header_words] * std::size_t{4};
    const std::size_t total = p.ipv4[Ipv4::total_length];
    if (header < Ipv4::size || rest.size() < header - Ipv4::size || total < header) {
        stop_at("IPv4 options", header < Ipv4::size ? 0 : header - Ipv4::size);
        return;
    }
    rest = rest.subspan(header - Ipv4::size);
    limit(total - header);
    p.ip_protocol = p.ipv4[Ipv4::protocol];
    p.ip_payload = rest;
    p.is_fragment = (p.ipv4[Ipv4::flags] & 1) != 0 || p.ipv4[Ipv4::fragment_offset] != 0;
    if (p.ipv4[Ipv4::fragment_offset] == 0) upper_layer();
}

void Decoder::ipv6() noexcept {
    if (!take(p.ipv6)) return;
    mark(Part::ipv6);
    limit(p.ipv6[Ipv6::payload_length]);
    p.ip_protocol = p.ipv6[Ipv6::next_header];
    for (std::size_t i = 0; i < most_ipv6_extensions; ++i) {
        const bool is_options = p.ip_protocol == IpProtocol::hop_by_hop || p.ip_protocol == IpProtocol::routing ||
                                p.ip_protocol == IpProtocol::destination_options;
        const bool is_fragment = p.ip_protocol == IpProtocol::fragment;
        if (!is_options && !is_fragment) break;
        const auto length = rest.size() < 8 || is_fragment ? std::size_t{8} : (rest[1] + std::size_t{1}) * 8;
        if (rest.size() < length) {
            stop_at("IPv6 extension header", length);
            return;
        }
        p.is_fragment = p.is_fragment || is_fragment;
        const bool is_later_fragment = is_fragment && (be16(rest, 2) & 0xfff8) != 0;
        p.ip_protocol = IpProtocol{rest[0]};
        rest = rest.subspan(length);
        if (is_later_fragment) return;
    }
    p.ip_payload = rest;
    upper_layer();
}

void Decoder::upper_layer() noexcept {
    if (p.ip_protocol == IpProtocol::udp) {
        if (!take(p.udp)) return;
        mark(Part::udp);
        if (is_dhcp(p.udp)) also<Dhcp>();
    } else if (p.ip_protocol == IpProtocol::igmp && p.ipv4) {
        if (!rest.empty() && rest[0] == igmp_type::report_v3)
            also<IgmpV3Report>();
        else
            also<Igmp>();
    } else if (p.ip_protocol == IpProtocol::icmp && p.ipv4) {
        if (take(p.icmp)) mark(Part::icmp);
    } else if (p.ip_protocol == IpProtocol::icmpv6 && p.ipv6) {
        const auto message = rest;
        if (!take(p.icmpv6)) return;
        mark(Part::icmpv6);
        const auto type = p.icmpv6[Icmpv6::type];
        neighbour_discovery(type);
        rest = message;
        if (type == Icmpv6Type::mld_query || type == Icmpv6Type::mld_report || type == Icmpv6Type::mld_done)
            also<Mld>();
        if (type == Icmpv6Type::mld2_report) also<MldV2Report>();
    }
}

void Decoder::neighbour_discovery(Icmpv6Type type) noexcept {
    const auto before_options = nd_options_offset(type);
    if (before_options == 0) return;
    if (p.ip_payload.size() < before_options) {
        stop_at("ND message", before_options - Icmpv6::size);
        return;
    }
    mark(Part::nd);
    if (before_options >= Icmpv6::size + NdTarget::size) p.nd_target = View<NdTarget>::at(rest);
    p.nd_options = p.ip_payload.subspan(before_options);
    const auto bad = for_each_nd_option(p.nd_options, [this](Octets option) {
        const auto option_type = option[0];
        if (option_type != LinkAddressOption::source && option_type != LinkAddressOption::target) return;
        if (option.size() != LinkAddressOption::size) {
            if (p.wrong_option.empty()) p.wrong_option = option;
            mark(Part::nd_wrong);
            return;
        }
        const bool is_source = option_type == LinkAddressOption::source;
        auto& kept = is_source ? p.source_option : p.target_option;
        if (!kept) kept = View<LinkAddressOption>::at(option);
        mark(is_source ? Part::nd_source : Part::nd_target);
    });
    // In a whole frame a length that leads beyond its end is the sender's.
    const bool is_address =
        bad.size() >= 2 && (bad[0] == LinkAddressOption::source || bad[0] == LinkAddressOption::target);
    if (is_address && !p.is_truncated && !p.is_fragment && p.wrong_option.empty()) {
        p.wrong_option = bad;
        mark(Part::nd_wrong);
    }
    if (!bad.empty() && !p.stop) {
        const auto needed = bad.size() < 2 ? std::size_t{2} : bad[1] * std::size_t{8};
        p.stop = {"ND option", p.offset_of(bad.data()), needed, bad.size()};
    }
}

}  // namespace ipoib::wire::detail
