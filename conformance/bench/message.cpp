// SPDX-License-Identifier: GPL-2.0-or-later
// The tester's messages. RFC 4391, 6 and 9; RFC 826; RFC 4861.
#include "conformance/bench/message.hpp"

#include <algorithm>

namespace ipoib::conformance {
using namespace wire;
using build::PacketBuilder;

namespace {

std::string sized(std::string what, std::size_t payload, std::size_t usual) {
    if (payload != usual) what += " with " + std::to_string(payload) + " octets of payload";
    return what;
}

constexpr std::size_t usual_echo = 56, usual_udp = 32;

/// Every datagram of a tester carries its nonce in front, then a pattern.
PacketBuilder with_ipv4(PacketBuilder packet, std::uint32_t from, std::uint32_t to) {
    return packet.add(Bytes<Ipv4>{}.set(Ipv4::source, from).set(Ipv4::destination, to));
}

PacketBuilder with_ipv6(PacketBuilder packet, const Gid& from, const Gid& to, std::uint8_t hop_limit) {
    return packet.add(Bytes<Ipv6>{}.set(Ipv6::source, from).set(Ipv6::destination, to).set(Ipv6::hop_limit, hop_limit));
}

PacketBuilder with_ip_of(PacketBuilder packet, const Situation& s, Family family) {
    constexpr std::uint8_t usual_hop_limit = 64;
    return family == Family::ipv6 ? with_ipv6(std::move(packet), s.tester.ipv6, s.dut.ipv6, usual_hop_limit)
                                  : with_ipv4(std::move(packet), s.tester.ipv4, s.dut.ipv4);
}

PacketBuilder with_echo(PacketBuilder packet, const Situation& s, Family family, std::size_t payload) {
    auto echo = with_ip_of(std::move(packet), s, family);
    if (family == Family::ipv6)
        echo.add(Bytes<Icmpv6>{}
                     .set(Icmpv6::type, Icmpv6Type::echo_request)
                     .set(Icmpv6::body, std::uint32_t{s.nonce} << 16 | 1));
    else
        echo.add(
            Bytes<Icmp>{}.set(Icmp::type, Icmp::echo_request).set(Icmp::identifier, s.nonce).set(Icmp::sequence, 1));
    return echo.add(payload_of(s.nonce, payload));
}

PacketBuilder with_udp(PacketBuilder packet, std::uint16_t nonce, std::uint16_t port, std::size_t payload) {
    return packet.add(Bytes<Udp>{}.set(Udp::source, nonce).set(Udp::destination, port)).add(payload_of(nonce, payload));
}

/// What is carried behind the transport headers.
std::vector<std::uint8_t> carried_by(const PacketBuilder& packet) {
    const auto frame = packet.build();
    Packet whole;
    decode(frame, whole);
    return {whole.payload.begin(), whole.payload.end()};
}

/// The same frame with so many octets there.
PacketBuilder resized(const PacketBuilder& packet, std::size_t size) {
    constexpr std::uint8_t filling = 0xa5;
    auto octets = carried_by(packet);
    octets.resize(size, filling);
    PacketBuilder changed;
    build::append_headers<Lrh, Grh, Bth, Deth>(changed, packet);
    return changed.add(octets);
}

/// RFC 8200, 4.5.
std::array<std::uint8_t, 8> fragment_header(IpProtocol next, const Fragment& fragment) {
    const auto place = static_cast<std::uint16_t>(fragment.offset << 3 | (fragment.has_more ? 1 : 0));
    return {static_cast<std::uint8_t>(next),
            0,
            static_cast<std::uint8_t>(place >> 8),
            static_cast<std::uint8_t>(place),
            0,
            0,
            static_cast<std::uint8_t>(fragment.identification >> 8),
            static_cast<std::uint8_t>(fragment.identification)};
}

template <class Header>
Bytes<Header> copy_of(const PacketBuilder& packet) {
    Bytes<Header> copy;
    const auto octets = packet.get<Header>().octets();
    std::copy(octets.begin(), octets.end(), copy.octets.begin());
    return copy;
}

/// ARP for the DUT's address, from the tester.
PacketBuilder with_arp_request(PacketBuilder packet, const Situation& s) {
    const auto request = build::arp_request(s.tester, s.dut.ipv4, s.link);
    return packet.add(copy_of<Arp>(request)).add(copy_of<ArpAddresses>(request));
}

/// A Neighbour Solicitation for the DUT's address, to that.
PacketBuilder with_solicitation(PacketBuilder packet, const Situation& s) {
    constexpr std::uint8_t only_from_the_link = 255;
    return with_ipv6(std::move(packet), s.tester.ipv6, s.dut.ipv6, only_from_the_link)
        .add(Bytes<Icmpv6>{}.set(Icmpv6::type, Icmpv6Type::neighbour_solicitation))
        .add(Bytes<NdTarget>{}.set(NdTarget::target, s.dut.ipv6))
        .add(Bytes<LinkAddressOption>{}
                 .set(LinkAddressOption::type, LinkAddressOption::source)
                 .set(LinkAddressOption::length, LinkAddressOption::size / 8)
                 .set(LinkAddressOption::flags, s.tester.link_flags)
                 .set(LinkAddressOption::qpn, s.tester.qpn)
                 .set(LinkAddressOption::gid, s.tester.gid));
}

}  // namespace

std::vector<std::uint8_t> payload_of(std::uint16_t nonce, std::size_t size) {
    std::vector<std::uint8_t> octets(size);
    for (std::size_t i = 0; i < size; ++i) octets[i] = static_cast<std::uint8_t>(i);
    if (size >= 2) octets[0] = static_cast<std::uint8_t>(nonce >> 8), octets[1] = static_cast<std::uint8_t>(nonce);
    return octets;
}

Message Message::cut_to(std::size_t octets) const {
    return edited(" cut to " + std::to_string(octets) + " octets",
                  [octets](PacketBuilder& packet) { packet = resized(packet, octets); });
}

Message Message::followed_by(std::size_t octets) const {
    return edited(" and " + std::to_string(octets) + " octets",
                  [octets](PacketBuilder& packet) { packet = resized(packet, carried_by(packet).size() + octets); });
}

std::size_t Message::carries(const Situation& situation) const { return carried_by(make(situation)).size(); }

Message Message::edited(const std::string& words, const std::function<void(PacketBuilder&)>& edit) const {
    return {what_ + words, [make = make_, edit](const Situation& situation) {
                auto packet = make(situation);
                edit(packet);
                return packet;
            }};
}

Message echo_request(std::size_t payload) {
    return {sized("echo request", payload, usual_echo), [payload](const Situation& s) {
                return with_echo(build::unicast(s.tester, s.dut, s.link), s, s.family, payload);
            }};
}

Message echo_request_with_grh(std::size_t payload) {
    return {sized("echo request with GRH", payload, usual_echo), [payload](const Situation& s) {
                return with_echo(build::unicast_with_grh(s.tester, s.dut, s.link), s, s.family, payload);
            }};
}

Message echo_request6(std::size_t payload) {
    return {sized("ICMPv6 echo request", payload, usual_echo), [payload](const Situation& s) {
                return with_echo(build::unicast(s.tester, s.dut, s.link), s, Family::ipv6, payload);
            }};
}

Message echo_answer(std::uint16_t identifier, std::uint16_t sequence, std::vector<std::uint8_t> payload) {
    return {"echo reply", [=](const Situation& s) {
                auto packet = with_ip_of(build::unicast(s.tester, s.dut, s.link), s, s.family);
                if (s.is_ipv6())
                    packet.add(Bytes<Icmpv6>{}
                                   .set(Icmpv6::type, Icmpv6Type::echo_reply)
                                   .set(Icmpv6::body, std::uint32_t{identifier} << 16 | sequence));
                else
                    packet.add(Bytes<Icmp>{}
                                   .set(Icmp::type, Icmp::echo_reply)
                                   .set(Icmp::identifier, identifier)
                                   .set(Icmp::sequence, sequence));
                return packet.add(payload);
            }};
}

Message announcement() {
    return {"announcement of the tester's link-layer address", [](const Situation& s) {
                if (!s.is_ipv6()) return build::arp_request(s.tester, s.tester.ipv4, s.link);
                constexpr std::uint32_t override_flag = 0x20000000;
                return build::neighbour_advertisement(s.tester, s.dut, s.link).set(Icmpv6::body, override_flag);
            }};
}

Message announcement_to_all(std::uint16_t mlid_of_all_nodes) {
    return {
        "announcement of the tester's link-layer address to all", [=](const Situation& s) {
            if (!s.is_ipv6()) {
                const auto reply = build::arp_reply(s.tester, s.tester, s.link);
                return build::broadcast(s.tester, s.link).add(copy_of<Arp>(reply)).add(copy_of<ArpAddresses>(reply));
            }
            constexpr std::uint8_t only_from_the_link = 255;
            const auto all = Gid::of(std::uint64_t{0xff02} << 48, 1);
            const auto told = announcement().make(s);
            auto packet =
                build::multicast(s.tester, mgid_for_ipv6(all, s.link.p_key, s.link.scope), mlid_of_all_nodes, s.link);
            return with_ipv6(std::move(packet), s.tester.ipv6, all, only_from_the_link)
                .add(copy_of<Icmpv6>(told))
                .add(copy_of<NdTarget>(told))
                .add(copy_of<LinkAddressOption>(told));
        }};
}

Message address_request() {
    return {"address request", [](const Situation& s) {
                return (s.is_ipv6() ? unicast_neighbour_solicitation() : arp_request()).make(s);
            }};
}

Message address_request_from(const IpAddress& sender) {
    return {"address request from " + text(sender), [sender](Situation s) {
                if (s.is_ipv6())
                    s.tester.ipv6 = sender.octets;
                else
                    s.tester.ipv4 = sender.v4();
                return address_request().make(s);
            }};
}

Message arp_request() {
    return {"ARP request", [](const Situation& s) { return build::arp_request(s.tester, s.dut.ipv4, s.link); }};
}

Message unicast_arp_request() {
    return {"unicast ARP request",
            [](const Situation& s) { return with_arp_request(build::unicast(s.tester, s.dut, s.link), s); }};
}

Message address_request_with_grh() {
    return {"address request with GRH", [](const Situation& s) {
                auto packet = build::unicast_with_grh(s.tester, s.dut, s.link);
                return s.is_ipv6() ? with_solicitation(std::move(packet), s) : with_arp_request(std::move(packet), s);
            }};
}

Message neighbour_solicitation(std::uint16_t mlid) {
    return {"Neighbour Solicitation",
            [=](const Situation& s) { return build::neighbour_solicitation(s.tester, s.dut.ipv6, mlid, s.link); }};
}

Message unicast_neighbour_solicitation() {
    return {"unicast Neighbour Solicitation",
            [](const Situation& s) { return with_solicitation(build::unicast(s.tester, s.dut, s.link), s); }};
}

Message unasked_arp_reply() {
    return {"ARP reply", [](const Situation& s) { return build::arp_reply(s.tester, s.dut, s.link); }};
}

Message unasked_neighbour_advertisement() {
    return {"Neighbour Advertisement",
            [](const Situation& s) { return build::neighbour_advertisement(s.tester, s.dut, s.link); }};
}

Message echo_fragment(const Fragment& fragment) {
    constexpr std::size_t unit = 8;
    constexpr std::uint8_t more_fragments = 1;
    const auto words = "fragment of " + std::to_string(fragment.octets) + " octets at " +
                       std::to_string(fragment.offset * unit) + (fragment.has_more ? ", and more" : ", the last");
    return {words, [fragment](const Situation& s) {
                auto packet = with_ip_of(build::unicast(s.tester, s.dut, s.link), s, s.family);
                auto octets = build::pattern(fragment.octets);
                const bool has_head = fragment.offset == 0 && octets.size() >= Icmp::size;
                const auto type =
                    s.is_ipv6() ? static_cast<std::uint8_t>(Icmpv6Type::echo_request) : Icmp::echo_request;
                if (has_head) octets[0] = type, octets[1] = 0;
                if (!s.is_ipv6())
                    return packet.choose(Ipv4::protocol, IpProtocol::icmp)
                        .set(Ipv4::identification, fragment.identification)
                        .set(Ipv4::flags, fragment.has_more ? more_fragments : std::uint8_t{0})
                        .set(Ipv4::fragment_offset, fragment.offset)
                        .add(octets);
                return packet.set(Ipv6::next_header, IpProtocol::fragment)
                    .add(fragment_header(IpProtocol::icmpv6, fragment))
                    .add(octets);
            }};
}

Message udp_to_group(const IpAddress& group, std::uint16_t mlid, std::uint16_t port, std::size_t payload) {
    return {sized("UDP datagram to " + text(group), payload, usual_udp), [=](const Situation& s) {
                const auto mgid = group.is_v4() ? mgid_for_ipv4(group.v4(), s.link.p_key, s.link.scope)
                                                : mgid_for_ipv6(group.octets, s.link.p_key, s.link.scope);
                auto packet = build::multicast(s.tester, mgid, mlid, s.link);
                packet = group.is_v4() ? with_ipv4(packet, s.tester.ipv4, group.v4())
                                       : with_ipv6(packet, s.tester.ipv6, group.octets, 1);
                return with_udp(packet, s.nonce, port, payload);
            }};
}

Message udp_broadcast(std::uint16_t port, std::size_t payload) {
    return {sized("UDP broadcast", payload, usual_udp), [=](const Situation& s) {
                return with_udp(with_ipv4(build::broadcast(s.tester, s.link), s.tester.ipv4, 0xffffffff), s.nonce, port,
                                payload);
            }};
}

Message udp_to_dut(std::uint16_t port, std::size_t payload) {
    return {sized("UDP datagram", payload, usual_udp), [=](const Situation& s) {
                return with_udp(with_ip_of(build::unicast(s.tester, s.dut, s.link), s, s.family), s.nonce, port,
                                payload);
            }};
}

}  // namespace ipoib::conformance
