// SPDX-License-Identifier: GPL-2.0-or-later
// Which packet is the one that is looked for: exact fields, and the nonce of the message it answers.
#include "conformance/bench/expectation.hpp"

#include "protocol/wire/inform_info.hpp"
#include "protocol/wire/path_record.hpp"

#include <algorithm>

namespace ipoib::conformance {
using namespace wire;

namespace {

bool is_icmp(const Packet& p, std::uint8_t type) { return p.icmp && p.icmp[Icmp::type] == type; }
bool is_icmpv6(const Packet& p, Icmpv6Type type) { return p.icmpv6 && p.icmpv6[Icmpv6::type] == type; }

bool is_echo_reply6(const Packet& p, const Situation& s) {
    return is_icmpv6(p, Icmpv6Type::echo_reply) && p.icmpv6[Icmpv6::body] >> 16 == s.nonce;
}

/// What follows ARP's fixed part.
Octets arp_body(const Packet& p) { return p.octets.subspan(p.offset_of(p.arp.data()) + Arp::size); }

/// An ARP packet between IPv4 addresses, whatever its header says of their lengths: a wrong length is a wrong field of
/// the packet that was looked for, no other packet. The hardware addresses have as many octets as the packet says, as
/// it should have, or as it has.
bool is_arp_between(const Packet& p, std::optional<std::uint32_t> sender, std::uint32_t target) {
    if (!p.arp) return false;
    constexpr std::size_t ipv4 = 4;
    const auto body = arp_body(p);
    const auto is = [&](std::size_t at, std::uint32_t wanted) {
        return read_bits(body.data() + at, {0}, 32) == wanted;
    };
    const auto matches = [&](std::size_t hardware) {
        if (body.size() < 2 * (hardware + ipv4)) return false;
        return (!sender || is(hardware, *sender)) && is(2 * hardware + ipv4, target);
    };
    const auto datagram = p.payload_length > Encap::size + Arp::size ? p.payload_length - Encap::size - Arp::size : 0;
    return matches(p.arp[Arp::hardware_length]) || matches(LinkAddress::size) ||
           (datagram >= 2 * ipv4 && matches(datagram / 2 - ipv4));
}

bool is_sa_request(const Packet& p, std::uint16_t attribute) {
    return p.mad && p.sa && p.mad[Mad::mgmt_class] == MgmtClass::subn_adm && !is_response(p.mad[Mad::method]) &&
           p.mad[Mad::attribute_id] == attribute;
}

bool is_member_request(const Packet& p, const Gid& mgid, std::initializer_list<Method> methods) {
    if (!is_sa_request(p, attribute::mc_member_record) || !p.mc_member || p.mc_member[McMemberRecord::mgid] != mgid)
        return false;
    return std::ranges::find(methods, p.mad[Mad::method]) != methods.end();
}

}  // namespace

Expectation Expectation::such_that(const std::string& words, IsIt also) const {
    auto narrowed = *this;
    narrowed.what_ += " " + words;
    narrowed.is_it_ = [first = is_it_, second = std::move(also)](const Packet& packet, const Situation& situation) {
        return first(packet, situation) && second(packet, situation);
    };
    return narrowed;
}

Expectation Expectation::claiming(Claim claim) const {
    auto more = *this;
    more.claims_.push_back(std::move(claim));
    return more;
}

Expectation Expectation::claiming_link_address_option() const {
    return claiming({.header = &spec_of<LinkAddressOption>,
                     .field = &LinkAddressOption::type,
                     .header_at = [](const Packet& packet) { return link_address_option(packet, 1); },
                     .holds = [](const std::uint8_t*, const Situation&) { return true; },
                     .expected = "present",
                     .is_presence = true});
}

View<ArpAddresses> arp_addresses_of(const Packet& packet) {
    return packet.arp ? View<ArpAddresses>::at(arp_body(packet)) : View<ArpAddresses>{};
}

Expectation Expectation::with_link_address_option() const {
    return such_that("with a link-layer address",
                     [](const Packet& packet, const Situation&) { return link_address_option(packet, 1) != nullptr; });
}

const std::uint8_t* Expectation::link_address_option(const Packet& packet, std::size_t octets) {
    if (packet.target_option) return packet.target_option.data();
    if (packet.source_option) return packet.source_option.data();
    return packet.wrong_option.size() >= octets ? packet.wrong_option.data() : nullptr;
}

Expectation Expectation::with_ip_length(Family family, std::size_t octets) const {
    if (family == Family::ipv6) return with(Ipv6::payload_length, static_cast<std::uint16_t>(octets - Ipv6::size));
    return with(Ipv4::total_length, static_cast<std::uint16_t>(octets));
}

Expectation Expectation::with_ip_length_up_to(Family family, std::size_t octets) const {
    const auto words = [](std::size_t most) { return "at most " + std::to_string(most); };
    const auto up_to = [](std::size_t most) { return [most](auto length, auto&) { return length <= most; }; };
    if (family == Family::ipv6)
        return where(Ipv6::payload_length, up_to(octets - Ipv6::size), words(octets - Ipv6::size));
    return where(Ipv4::total_length, up_to(octets), words(octets));
}

Expectation address_request_for(const IpAddress& address) {
    return address.is_v4() ? arp_request_for(address.v4()) : neighbour_solicitation_for(address.octets);
}

Expectation echo_reply() {
    return {"echo reply", [](const Packet& p, const Situation& s) {
                if (s.is_ipv6()) return is_echo_reply6(p, s);
                return is_icmp(p, Icmp::echo_reply) && p.icmp[Icmp::identifier] == s.nonce;
            }};
}

Expectation port_unreachable(std::uint16_t port) {
    return {"ICMP error that port " + std::to_string(port) + " is unreachable",
            [port](const Packet& p, const Situation&) {
                constexpr std::uint8_t destination_unreachable = 3, its_port = 3;
                constexpr std::uint8_t destination_unreachable6 = 1, its_port6 = 4;
                const bool is_v4 =
                    p.icmp && p.icmp[Icmp::type] == destination_unreachable && p.icmp[Icmp::code] == its_port;
                const bool is_v6 = p.icmpv6 && p.icmpv6[Icmpv6::type] == Icmpv6Type{destination_unreachable6} &&
                                   p.icmpv6[Icmpv6::code] == its_port6;
                if (!is_v4 && !is_v6) return false;
                const auto quoted = Icmp::size + (is_v4 ? Ipv4::size : Ipv6::size);
                if (p.ip_payload.size() < quoted + Udp::size) return false;
                return View<Udp>::at(p.ip_payload.subspan(quoted))[Udp::destination] == port;
            }};
}

Expectation echo_reply6() { return {"ICMPv6 echo reply", is_echo_reply6}; }

Expectation address_reply() {
    return {"answer with the DUT's link-layer address", [](const Packet& p, const Situation& s) {
                return (s.is_ipv6() ? neighbour_advertisement() : arp_reply()).is_it(p, s);
            }};
}

Expectation arp_reply() {
    return {"ARP reply", [](const Packet& p, const Situation& s) {
                return is_arp_between(p, s.dut.ipv4, s.tester.ipv4) && p.arp[Arp::operation] != Arp::request;
            }};
}

Expectation neighbour_advertisement() {
    return {"Neighbour Advertisement", [](const Packet& p, const Situation& s) {
                return is_icmpv6(p, Icmpv6Type::neighbour_advertisement) && p.nd_target &&
                       p.nd_target[NdTarget::target] == s.dut.ipv6 && p.ipv6 &&
                       p.ipv6[Ipv6::destination] == s.tester.ipv6;
            }};
}

Expectation arp_request_for(std::uint32_t address) {
    return {"ARP request for " + ipv4_text(address), [address](const Packet& p, const Situation&) {
                return is_arp_between(p, {}, address) && p.arp[Arp::operation] != Arp::reply;
            }};
}

Expectation neighbour_solicitation_for(const Gid& address) {
    return {"Neighbour Solicitation for " + text(address), [address](const Packet& p, const Situation&) {
                return is_icmpv6(p, Icmpv6Type::neighbour_solicitation) && p.nd_target &&
                       p.nd_target[NdTarget::target] == address;
            }};
}

Expectation udp_from_dut(const IpAddress& to, std::uint16_t port) {
    return {"UDP datagram to " + text(to) + " port " + std::to_string(port),
            [to, port](const Packet& p, const Situation&) {
                if (!p.udp || p.udp[Udp::destination] != port) return false;
                if (to.is_v4()) return p.ipv4 && p.ipv4[Ipv4::destination] == to.v4();
                return p.ipv6 && p.ipv6[Ipv6::destination] == to.octets;
            }};
}

Expectation join_of(const Gid& mgid) {
    return {"join of " + text(mgid),
            [mgid](const Packet& p, const Situation&) { return is_member_request(p, mgid, {Method::set}); },
            SeenBy::anyone};
}

Expectation leave_of(const Gid& mgid) {
    return {"leave of " + text(mgid),
            [mgid](const Packet& p, const Situation&) { return is_member_request(p, mgid, {Method::del}); },
            SeenBy::anyone};
}

Expectation query_of(const Gid& mgid) {
    return {"query of " + text(mgid),
            [mgid](const Packet& p, const Situation&) {
                return is_member_request(p, mgid, {Method::get, Method::get_table});
            },
            SeenBy::anyone};
}

Expectation request_about(const Gid& mgid) {
    return {"request about " + text(mgid),
            [mgid](const Packet& p, const Situation&) {
                return is_member_request(p, mgid, {Method::get, Method::get_table, Method::set, Method::del});
            },
            SeenBy::anyone};
}

Expectation path_question_about(const Gid& gid) {
    const auto asks = [gid](const Packet& p, const Situation& s) {
        // The GIDs of a MultiPathRecord stand behind its fixed part, as many as it says.
        if (is_sa_request(p, attribute::multi_path_record)) {
            const auto record = p.octets.subspan(p.offset_of(p.sa.data()) + SaHeader::size);
            return std::search(record.begin(), record.end(), gid.octets.begin(), gid.octets.end()) != record.end();
        }
        if (!is_sa_request(p, attribute::path_record)) return false;
        using component = PathRecord::component;
        const auto path = p.get<PathRecord>();
        const auto mask = p.sa[SaHeader::component_mask];
        if (!path) return false;
        if ((mask & component::dgid) != 0) return path[PathRecord::dgid] == gid || path[PathRecord::sgid] == gid;
        if ((mask & component::dlid) != 0) return path[PathRecord::dlid] == s.tester.lid;
        return p.mad[Mad::method] == Method::get_table;
    };
    return {"question for the path to " + text(gid), asks, SeenBy::anyone};
}

Expectation list_of_groups() {
    return {"query of the groups",
            [](const Packet& p, const Situation&) {
                return is_sa_request(p, attribute::mc_member_record) && p.mad[Mad::method] == Method::get_table &&
                       (p.sa[SaHeader::component_mask] & McMemberRecord::component::mgid) == 0;
            },
            SeenBy::anyone};
}

Expectation request_like(const IpAddress& group) {
    return {"request about a group that ends like " + text(group),
            [group](const Packet& p, const Situation&) {
                const auto low = [](const Gid& gid) { return gid.interface_id() & 0xffff; };
                return is_sa_request(p, attribute::mc_member_record) && p.mc_member &&
                       low(p.mc_member[McMemberRecord::mgid]) == low(group.octets);
            },
            SeenBy::anyone};
}

Expectation join_like(const IpAddress& group) {
    return request_like(group).such_that(
        "that joins it", [](const Packet& p, const Situation&) { return p.mad[Mad::method] == Method::set; });
}

Expectation any_ipoib() {
    return {"IPoIB packet", [](const Packet& p, const Situation&) { return p.is_ipoib(); }, SeenBy::anyone};
}

Expectation udp_piece() {
    return {"UDP datagram or its first fragment", [](const Packet& p, const Situation& s) {
                if (s.is_ipv6())
                    return p.ipv6 && ((p.ip_protocol == IpProtocol::udp && p.udp) || p.is_fragment) &&
                           p.ipv6[Ipv6::source] == s.dut.ipv6 && p.ipv6[Ipv6::destination] == s.tester.ipv6;
                return p.ipv4 && p.ipv4[Ipv4::protocol] == IpProtocol::udp && p.ipv4[Ipv4::fragment_offset] == 0 &&
                       p.ipv4[Ipv4::source] == s.dut.ipv4 && p.ipv4[Ipv4::destination] == s.tester.ipv4;
            }};
}

Expectation creating_join_of(const Gid& mgid) {
    return {"join of " + text(mgid) + " that can create the group",
            [mgid](const Packet& p, const Situation&) {
                constexpr auto parameters = McMemberRecord::component::q_key | McMemberRecord::component::p_key;
                return is_member_request(p, mgid, {Method::set}) &&
                       (p.sa[SaHeader::component_mask] & parameters) == parameters;
            },
            SeenBy::anyone};
}

Expectation subscription_to(std::uint16_t trap) {
    return {"subscription to trap " + std::to_string(trap),
            [trap](const Packet& p, const Situation&) {
                if (!is_sa_request(p, attribute::inform_info) || p.mad[Mad::method] != Method::set) return false;
                const auto info = p.get<InformInfo>();
                if (!info || info[InformInfo::subscribe] != 1) return false;
                const auto number = info[InformInfo::trap_number];
                return number == trap || number == InformInfo::all;
            },
            SeenBy::anyone};
}

}  // namespace ipoib::conformance
