// SPDX-License-Identifier: GPL-2.0-or-later
// Which packet is the one that is looked for: exact fields, and the nonce of the message it answers.
#include "conformance/engine/expectation.hpp"

#include "protocol/wire/inform_info.hpp"
#include "protocol/wire/path_record.hpp"

#include <algorithm>

namespace ipoib::conformance {
using namespace wire;

namespace {

bool is_icmp(const Packet& p, std::uint8_t type) { return p.icmp && p.icmp[Icmp::type] == type; }
bool is_icmpv6(const Packet& p, Icmpv6Type type) { return p.icmpv6 && p.icmpv6[Icmpv6::type] == type; }

bool is_arp(const Packet& p, std::uint16_t operation) { return p.arp && p.arp[Arp::operation] == operation; }

/// ARP's protocol addresses, wherever a wrong hardware length put them; judged by what the packet says of itself.
std::optional<std::pair<std::uint32_t, std::uint32_t>> protocol_addresses(const Packet& p) {
    const auto hardware = std::size_t{p.arp[Arp::hardware_length]}, size = std::size_t{4};
    const auto begin = p.offset_of(p.arp.data()) + Arp::size;
    if (p.arp[Arp::protocol_length] != size || p.octets.size() < begin + 2 * (hardware + size)) return {};
    const auto address = [&](std::size_t at) {
        return static_cast<std::uint32_t>(read_bits(p.octets.data() + at, {0}, 32));
    };
    return std::pair{address(begin + hardware), address(begin + 2 * hardware + size)};
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
    return claiming({&spec_of<LinkAddressOption>, &LinkAddressOption::type,
                     [](const Packet& packet) { return link_address_option(packet, 1); },
                     [](const std::uint8_t*, const Situation&) { return true; }, "present"});
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

Expectation echo_reply() {
    return {"ICMP echo reply", [](const Packet& p, const Situation& s) {
                return is_icmp(p, Icmp::echo_reply) && p.icmp[Icmp::identifier] == s.nonce;
            }};
}

Expectation echo_reply6() {
    return {"ICMPv6 echo reply", [](const Packet& p, const Situation& s) {
                return is_icmpv6(p, Icmpv6Type::echo_reply) && p.icmpv6[Icmpv6::body] >> 16 == s.nonce;
            }};
}

Expectation arp_reply() {
    return {"ARP reply", [](const Packet& p, const Situation& s) {
                if (!is_arp(p, Arp::reply)) return false;
                const auto addresses = protocol_addresses(p);
                return addresses && addresses->first == s.dut.ipv4 && addresses->second == s.tester.ipv4;
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
                if (!is_arp(p, Arp::request)) return false;
                const auto addresses = protocol_addresses(p);
                return addresses && addresses->second == address;
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

Expectation path_query_of(const Gid& gid) {
    return {"query of the path to " + text(gid),
            [gid](const Packet& p, const Situation&) {
                const auto path = p.get<PathRecord>();
                return is_sa_request(p, attribute::path_record) && path && path[PathRecord::dgid] == gid;
            },
            SeenBy::anyone};
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
