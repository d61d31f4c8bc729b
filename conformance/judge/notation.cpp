// SPDX-License-Identifier: GPL-2.0-or-later
// One line per packet, the innermost thing that was found first; headers by their rows.
#include "conformance/judge/notation.hpp"

#include "protocol/wire/inform_info.hpp"
#include "protocol/wire/mad_names.hpp"
#include "protocol/wire/text.hpp"

#include <algorithm>

namespace ipoib::conformance {
using namespace wire;

namespace {

/// The name that a field's value has, without its number: "echo reply"; the number where there is none.
template <class Header, class T>
std::string named(const View<Header>& header, const Field<Header, T>& field) {
    const auto value = static_cast<std::uint64_t>(header[field]);
    for (const auto& known : field.names)
        if (known.value == value) return std::string(known.name);
    return std::string(field.name) + ' ' + std::to_string(value);
}

std::string over(const Packet& p) {
    if (!p.grh || !p.is_multicast) return {};
    return " over " + text(p.grh[Grh::dgid]);
}

std::string management(const Packet& p) {
    const auto mgmt_class = p.mad[Mad::mgmt_class];
    // Of connection management every message is sent by the method Send.
    std::string line =
        mgmt_class == MgmtClass::communication ? "CM" : named(p.mad, Mad::mgmt_class) + ' ' + named(p.mad, Mad::method);
    if (const auto names = attribute_names(mgmt_class); !names.empty()) {
        const auto id = p.mad[Mad::attribute_id];
        const auto name = name_of(names, id);
        line += ' ' + (name.empty() ? "attribute " + hex(id, 4) : std::string(name));
    }
    if (p.mad[Mad::status] != 0) line += " status " + hex(p.mad[Mad::status], 4);
    if (p.mc_member)
        line += ' ' + text(p.mc_member[McMemberRecord::mgid]) + " JoinState " +
                std::to_string(p.mc_member[McMemberRecord::join_state]);
    if (const auto info = p.get<InformInfo>())
        line += std::string(info[InformInfo::subscribe] ? " subscribe" : " unsubscribe") + " trap " +
                std::to_string(info[InformInfo::trap_number]);
    return line;
}

std::string addresses(const Packet& p) {
    if (p.ipv4) return ' ' + ipv4_text(p.ipv4[Ipv4::source]) + " to " + ipv4_text(p.ipv4[Ipv4::destination]);
    if (p.ipv6) return ' ' + text(p.ipv6[Ipv6::source]) + " to " + text(p.ipv6[Ipv6::destination]);
    return {};
}

std::string datagram(const Packet& p) {
    if (p.arp) {
        std::string line = "ARP " + named(p.arp, Arp::operation);
        if (p.arp_addresses)
            line += ' ' + ipv4_text(p.arp_addresses[ArpAddresses::spa]) + " to " +
                    ipv4_text(p.arp_addresses[ArpAddresses::tpa]);
        return line;
    }
    if (p.icmp) return "ICMP " + named(p.icmp, Icmp::type) + addresses(p);
    if (p.icmpv6) return "ICMPv6 " + named(p.icmpv6, Icmpv6::type) + addresses(p);
    if (p.udp) return "UDP" + addresses(p) + " port " + std::to_string(p.udp[Udp::destination]);
    if (p.ipv4) return "IPv4" + addresses(p) + " protocol " + std::to_string(static_cast<unsigned>(p.ip_protocol));
    if (p.ipv6) return "IPv6" + addresses(p) + " next header " + std::to_string(static_cast<unsigned>(p.ip_protocol));
    return p.encap ? "EtherType " + hex(static_cast<unsigned>(p.ether_type), 4) : "no IPoIB";
}

}  // namespace

std::string in_one_line(const Packet& p) {
    if (p.mad) return management(p);
    return datagram(p) + over(p);
}

std::string_view title_of(inspection::Party party) noexcept {
    using inspection::Party;
    switch (party) {
        case Party::tester:
            return "tester";
        case Party::dut:
            return "DUT";
        case Party::sa:
            return "SA";
        default:
            return "other";
    }
}

std::string header_text(const Packet& packet, const HeaderSpec& header, const std::uint8_t* at) {
    constexpr std::size_t name_width = 22;
    auto lines = std::string(header.title) + " (offset " + std::to_string(packet.offset_of(at)) + ")\n";
    for (const auto& field : header.fields) {
        const bool is_quiet =
            field.show == Show::reserved && field.width <= 64 && read_bits(at, field.at, field.width) == 0;
        if (is_quiet) continue;
        auto name = std::string(field.name);
        name.resize(std::max(name.size(), name_width), ' ');
        lines += "    " + name + ' ' + value_text(field, at, names_of(header, field, at)) + '\n';
    }
    return lines;
}

}  // namespace ipoib::conformance
