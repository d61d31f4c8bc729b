// SPDX-License-Identifier: GPL-2.0-or-later
// The tester as a DHCP server of one address. RFC 2131, 4.3.
#include "conformance/engine/dhcp.hpp"

namespace ipoib::conformance {
using namespace wire;
using build::PacketBuilder;

namespace {

void append_number(std::vector<std::uint8_t>& options, std::uint8_t code, std::uint32_t number) {
    options.insert(options.end(), {code, 4, 0, 0, 0, 0});
    write_bits(options.data() + options.size() - 4, octet(0), 32, number);
}

std::optional<Octets> identifier_of(const Packet& p) {
    return find_dhcp_option(udp_payload(p), dhcp_option::client_identifier);
}

/// The first octet of the identifier, which is all that is looked at; null where there is none.
const std::uint8_t* identifier_at(const Packet& p) {
    const auto identifier = identifier_of(p);
    return identifier && !identifier->empty() ? identifier->data() : nullptr;
}

}  // namespace

Message dhcp_reply(DhcpType type, const Bytes<Dhcp>& to, const Lease& lease) {
    const auto what = std::string(type == DhcpType::offer ? "DHCPOFFER" : "DHCPACK");
    return {what, [type, to, lease](const Situation& s) {
                constexpr std::uint32_t everybody = 0xffffffff, mask = 0xffffff00;
                const bool is_broadcast = to[Dhcp::broadcast] || to[Dhcp::ciaddr] == 0;
                std::vector<std::uint8_t> options{dhcp_option::message_type, 1, static_cast<std::uint8_t>(type)};
                append_number(options, dhcp_option::server_identifier, s.tester.ipv4);
                append_number(options, dhcp_option::lease_time, lease.end);
                append_number(options, dhcp_option::renewal_time, lease.renewal);
                append_number(options, dhcp_option::rebinding_time, lease.rebinding);
                append_number(options, dhcp_option::subnet_mask, mask);
                options.push_back(dhcp_option::end);
                auto packet =
                    is_broadcast ? build::broadcast(s.tester, s.link) : build::unicast(s.tester, s.dut, s.link);
                const auto address = is_broadcast ? everybody : to[Dhcp::ciaddr];
                packet.add(Bytes<Ipv4>{}.set(Ipv4::source, s.tester.ipv4).set(Ipv4::destination, address))
                    .add(Bytes<Udp>{}.set(Udp::source, dhcp_server_port).set(Udp::destination, dhcp_client_port))
                    .add(Bytes<Dhcp>{}
                             .set(Dhcp::op, Dhcp::reply)
                             .set(Dhcp::htype, Dhcp::infiniband)
                             .set(Dhcp::xid, to[Dhcp::xid])
                             .set(Dhcp::broadcast, to[Dhcp::broadcast])
                             .set(Dhcp::ciaddr, to[Dhcp::ciaddr])
                             .set(Dhcp::yiaddr, lease.address)
                             .set(Dhcp::cookie, Dhcp::magic));
                return packet.add(options);
            }};
}

Expectation dhcp_of_dut(DhcpType type) {
    constexpr std::array<std::string_view, 9> names{"",    "DISCOVER", "OFFER",   "REQUEST", "DECLINE",
                                                    "ACK", "NAK",      "RELEASE", "INFORM"};
    return {"DHCP" + std::string(names.at(static_cast<std::size_t>(type))), [type](const Packet& p, const Situation&) {
                if (!p.udp || p.udp[Udp::source] != dhcp_client_port || p.udp[Udp::destination] != dhcp_server_port)
                    return false;
                const auto dhcp = dhcp_of(p);
                return dhcp && dhcp[Dhcp::op] == Dhcp::request && dhcp_type(udp_payload(p)) == type;
            }};
}

bool has_client_identifier(const Packet& packet, const Situation&) { return identifier_of(packet).has_value(); }

Expectation with_client_identifier(const Expectation& message) {
    return message.claiming({&spec_of<DhcpClientId>, &DhcpClientId::type, identifier_at,
                             [](const std::uint8_t*, const Situation&) { return true; }, "present"});
}

Expectation with_duid(const Expectation& message) {
    const auto whole = [](const Packet& p) {
        const auto* at = identifier_at(p);
        const bool is_cut = at && *at == DhcpClientId::iaid_and_duid && !client_identifier(*identifier_of(p));
        return is_cut ? nullptr : at;
    };
    return message.claiming(
        {&spec_of<DhcpClientId>, &DhcpClientId::type, whole,
         [](const std::uint8_t* type, const Situation&) { return *type == DhcpClientId::iaid_and_duid; },
         "255, with 4 octets of IAID and a DUID behind it"});
}

}  // namespace ipoib::conformance
