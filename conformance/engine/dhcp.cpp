// SPDX-License-Identifier: GPL-2.0-or-later
// The tester as a DHCP server of one address, or as a client. RFC 2131, 4.3 and 4.4.
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

/// "DHCPOFFER".
std::string name_of(DhcpType type) {
    for (const auto& [value, name] : dhcp_type_names)
        if (value == static_cast<std::uint8_t>(type)) return std::string(name);
    return "DHCP message";
}

/// What a client sends. An identifier of its own: RFC 4361's form, with a DUID-UUID of the GID.
std::vector<std::uint8_t> client_options(DhcpType type, const Situation& s) {
    std::vector<std::uint8_t> options{dhcp_option::message_type, 1, static_cast<std::uint8_t>(type)};
    const auto head = Bytes<DhcpClientId>{}
                          .set(DhcpClientId::type, DhcpClientId::iaid_and_duid)
                          .set(DhcpClientId::iaid, 1)
                          .set(DhcpClientId::duid_type, 4);
    const auto& gid = s.tester.gid;
    options.insert(options.end(),
                   {dhcp_option::client_identifier, static_cast<std::uint8_t>(DhcpClientId::size + gid.octets.size())});
    options.insert(options.end(), head.octets.begin(), head.octets.end());
    options.insert(options.end(), gid.octets.begin(), gid.octets.end());
    return options;
}

PacketBuilder client_message(PacketBuilder packet, std::uint32_t from, std::uint32_t to, std::uint32_t xid,
                             bool is_broadcast, std::vector<std::uint8_t> options) {
    options.push_back(dhcp_option::end);
    packet.add(Bytes<Ipv4>{}.set(Ipv4::source, from).set(Ipv4::destination, to))
        .add(Bytes<Udp>{}.set(Udp::source, dhcp_client_port).set(Udp::destination, dhcp_server_port))
        .add(Bytes<Dhcp>{}
                 .set(Dhcp::op, Dhcp::request)
                 .set(Dhcp::htype, Dhcp::infiniband)
                 .set(Dhcp::xid, xid)
                 .set(Dhcp::broadcast, is_broadcast)
                 .set(Dhcp::ciaddr, from)
                 .set(Dhcp::cookie, Dhcp::magic));
    return packet.add(options);
}

constexpr std::uint32_t nobody = 0, everybody = 0xffffffff;

/// From a client's address to the DUT.
Message of_bound_client(DhcpType type, std::uint32_t xid, std::uint32_t address) {
    return {name_of(type), [=](const Situation& s) {
                auto options = client_options(type, s);
                if (type == DhcpType::release) append_number(options, dhcp_option::server_identifier, s.dut.ipv4);
                return client_message(build::unicast(s.tester, s.dut, s.link), address, s.dut.ipv4, xid, false,
                                      std::move(options));
            }};
}

}  // namespace

Message dhcp_discover(std::uint32_t xid) {
    return {name_of(DhcpType::discover), [xid](const Situation& s) {
                return client_message(build::broadcast(s.tester, s.link), nobody, everybody, xid, true,
                                      client_options(DhcpType::discover, s));
            }};
}

Message dhcp_request(std::uint32_t xid, std::uint32_t address, std::uint32_t server) {
    return {name_of(DhcpType::request), [=](const Situation& s) {
                auto options = client_options(DhcpType::request, s);
                append_number(options, dhcp_option::requested_address, address);
                append_number(options, dhcp_option::server_identifier, server);
                return client_message(build::broadcast(s.tester, s.link), nobody, everybody, xid, true,
                                      std::move(options));
            }};
}

Message dhcp_renewal(std::uint32_t xid, std::uint32_t address) {
    return of_bound_client(DhcpType::request, xid, address);
}
Message dhcp_release(std::uint32_t xid, std::uint32_t address) {
    return of_bound_client(DhcpType::release, xid, address);
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
                constexpr std::uint32_t mask = 0xffffff00;
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
