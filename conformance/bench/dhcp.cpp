// SPDX-License-Identifier: GPL-2.0-or-later
// The tester as a DHCP server of one address, or as a client. RFC 2131, 4.3 and 4.4.
#include "conformance/bench/dhcp.hpp"

namespace ipoib::conformance {
using namespace wire;

namespace {

std::optional<Octets> identifier_of(const Packet& p) {
    return find_dhcp_option(udp_payload(p), dhcp_option::client_identifier);
}

/// The first octet of the identifier, which is all that is looked at; null where there is none.
const std::uint8_t* identifier_at(const Packet& p) {
    const auto identifier = identifier_of(p);
    return identifier && !identifier->empty() ? identifier->data() : nullptr;
}

/// "DHCPOFFER".
std::string name_of(DhcpType type) {
    for (const auto& [value, name] : dhcp_type_names)
        if (value == static_cast<std::uint8_t>(type)) return std::string(name);
    return "DHCP message";
}

}  // namespace

Message dhcp_discover(std::uint32_t xid) {
    return {name_of(DhcpType::discover),
            [xid](const Situation& s) { return build::dhcp_discover(s.tester, s.link, xid); }};
}

Message dhcp_request(std::uint32_t xid, std::uint32_t address, std::uint32_t server) {
    return {name_of(DhcpType::request),
            [=](const Situation& s) { return build::dhcp_request(s.tester, s.link, xid, address, server); }};
}

Message dhcp_renewal(std::uint32_t xid, std::uint32_t address) {
    return {name_of(DhcpType::request),
            [=](const Situation& s) { return build::dhcp_renewal(s.tester, s.dut, s.link, xid, address); }};
}

Message dhcp_release(std::uint32_t xid, std::uint32_t address) {
    return {name_of(DhcpType::release),
            [=](const Situation& s) { return build::dhcp_release(s.tester, s.dut, s.link, xid, address); }};
}

Expectation dhcp_reply_of_dut(DhcpType type, std::uint32_t xid) {
    return {name_of(type), [type, xid](const Packet& p, const Situation&) {
                const auto dhcp = dhcp_of(p);
                return dhcp && p.udp[Udp::source] == dhcp_server_port && dhcp[Dhcp::op] == Dhcp::reply &&
                       dhcp[Dhcp::xid] == xid && dhcp_type(udp_payload(p)) == type;
            }};
}

Expectation arp_request_for_others() {
    return {"ARP request for an address that neither side has", [](const Packet& p, const Situation& s) {
                const auto& a = p.arp_addresses;
                return a && p.arp[Arp::operation] == Arp::request && a[ArpAddresses::tpa] != s.tester.ipv4 &&
                       a[ArpAddresses::tpa] != s.dut.ipv4;
            }};
}

Message dhcp_reply(DhcpType type, const Bytes<Dhcp>& to, const Lease& lease) {
    return {name_of(type), [type, to, lease](const Situation& s) {
                return build::dhcp_reply(s.tester, s.dut, s.link, type, to.view(), lease);
            }};
}

Expectation dhcp_of_dut(DhcpType type) {
    return {name_of(type), [type](const Packet& p, const Situation&) {
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
