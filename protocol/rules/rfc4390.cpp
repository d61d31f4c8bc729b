// SPDX-License-Identifier: GPL-2.0-or-later
// RFC 4390: what a DHCP client sends over IPoIB.
#include "protocol/requirements/catalogue.hpp"
#include "protocol/rules/common.hpp"
#include "protocol/wire/dhcp_message.hpp"

namespace ipoib::rules {
namespace {

const std::uint8_t* at_dhcp(const Packet& p) { return dhcp_of(p).data(); }

/// What a client sends, and on this link: relay agents pass on what comes from other ones.
std::optional<DhcpType> client_message(const Packet& p) {
    if (p.is_fragment || p.udp[Udp::source] != dhcp_client_port || p.udp[Udp::destination] != dhcp_server_port)
        return std::nullopt;
    const auto dhcp = dhcp_of(p);
    if (!dhcp || dhcp[Dhcp::op] != Dhcp::request || dhcp[Dhcp::cookie] != Dhcp::magic || dhcp[Dhcp::giaddr] != 0 ||
        dhcp[Dhcp::hops] != 0)
        return std::nullopt;
    const auto type = dhcp_type(udp_payload(p));
    const bool is_clients = type == DhcpType::discover || type == DhcpType::request || type == DhcpType::decline ||
                            type == DhcpType::release || type == DhcpType::inform;
    return is_clients ? type : std::nullopt;
}
constexpr std::uint32_t limited_broadcast = 0xffffffff;

/// What goes to one server alone may come from beyond a router, from a link of another kind. Then the address is not
/// one that was announced here by the sender of the packet; and if it was, since the router answers for it, the client
/// says itself what its link is. A client on Ethernet has a hardware address.
bool is_of_this_link(const Packet& p, const Known& known) {
    if (p.ipv4[Ipv4::source] == 0) return true;
    if (!known.speaker || (known.sender && known.speaker->gid != known.sender->gid)) return false;
    const auto dhcp = dhcp_of(p);
    constexpr std::uint8_t ethernet = 1;
    const bool says_so =
        dhcp && (dhcp[Dhcp::htype] == Dhcp::infiniband || (dhcp[Dhcp::htype] == ethernet && dhcp[Dhcp::hlen] == 0));
    return p.ipv4[Ipv4::destination] == limited_broadcast || says_so;
}
bool is_from_client(const Packet& p, const Known& known) {
    return client_message(p).has_value() && is_of_this_link(p, known);
}

bool is_client_message(const Packet& p) { return client_message(p).has_value(); }
bool is_request(const Packet& p) { return client_message(p) == DhcpType::request; }
bool is_discover(const Packet& p) { return client_message(p) == DhcpType::discover; }
bool has_option(const Packet& p, std::uint8_t code) { return find_dhcp_option(udp_payload(p), code).has_value(); }
/// The client takes one of the offers. RFC 2131, 4.3.2: no other request names both the server and the address.
bool is_selecting(const Packet& p) {
    return is_request(p) && has_option(p, dhcp_option::server_identifier) &&
           has_option(p, dhcp_option::requested_address);
}
bool knows_address(const Packet& p) { return dhcp_of(p)[Dhcp::ciaddr] != 0; }

/// An option that is not there may be in what was not captured, or in the fields `sname` and `file`.
bool shows_all_options(const Packet& p) {
    const auto message = udp_payload(p);
    return message.size() + Udp::size == p.udp[Udp::length] && !has_option(p, dhcp_option::overload);
}
std::optional<Octets> identifier_of(const Packet& p) {
    return find_dhcp_option(udp_payload(p), dhcp_option::client_identifier);
}
const std::uint8_t* at_identifier(const Packet& p) {
    const auto identifier = identifier_of(p);
    return identifier && !identifier->empty() ? identifier->data() : nullptr;
}

/// It may stand there in several parts, which belong together, the last of them in `sname` or `file`. RFC 3396.
bool is_split(const Packet& p, std::uint8_t code) {
    const auto message = udp_payload(p);
    std::size_t count = 0;
    if (message.size() >= Dhcp::size)
        for_each_dhcp_option(message.subspan(Dhcp::size),
                             [&](std::uint8_t at, Octets) { count += at == code ? 1u : 0u; });
    return count > 1 || has_option(p, dhcp_option::overload);
}

constexpr auto needed = parts(Part::ipoib, Part::ipv4, Part::udp);

constexpr Rule rules_of_rfc4390[] = {
    // No answer comes to DHCPDECLINE and DHCPRELEASE, and DHCPINFORM is sent by one that has an address.
    {.id = "RULE-RFC4390-2-01",
     .checks = {&rfc4390::broadcast_reply_requested, &rfc4390::broadcast_flag_set},
     .title = "a client without address asks for a broadcast reply",
     .needs = needed,
     .evidence = Evidence::one_frame,
     .concerns = is_client_message,
     .applies =
         [](const Packet& p, const Known& known) {
             return is_of_this_link(p, known) && (is_discover(p) || is_request(p)) && !knows_address(p);
         },
     .holds = [](const Packet& p) { return dhcp_of(p)[Dhcp::broadcast]; },
     .points_at = Dhcp::broadcast,
     .expected = "1",
     .at = at_dhcp},
    {.id = "RULE-RFC4390-2.1-01",
     .checks = {&rfc4390::htype},
     .title = "htype is 32",
     .needs = needed,
     .evidence = Evidence::one_frame,
     .concerns = is_client_message,
     .applies = is_from_client,
     .holds = [](const Packet& p) { return dhcp_of(p)[Dhcp::htype] == Dhcp::infiniband; },
     .points_at = Dhcp::htype,
     .expected = "32 (InfiniBand)",
     .at = at_dhcp},
    {.id = "RULE-RFC4390-2.1-02",
     .checks = {&rfc4390::hlen},
     .title = "hlen is 0",
     .needs = needed,
     .evidence = Evidence::one_frame,
     .concerns = is_client_message,
     .applies = is_from_client,
     .holds = [](const Packet& p) { return dhcp_of(p)[Dhcp::hlen] == 0; },
     .points_at = Dhcp::hlen,
     .expected = "0",
     .at = at_dhcp},
    {.id = "RULE-RFC4390-2.1-03",
     .checks = {&rfc4390::chaddr_zero},
     .title = "chaddr is all zeros",
     .needs = needed,
     .evidence = Evidence::one_frame,
     .concerns = is_client_message,
     .applies = is_from_client,
     .holds = [](const Packet& p) { return dhcp_of(p)[Dhcp::chaddr] == OctetArray<16>{}; },
     .points_at = Dhcp::chaddr,
     .expected = "16 zero octets",
     .at = at_dhcp},
    {.id = "RULE-RFC4390-2.1-04",
     .checks = {&rfc4390::client_identifier_present},
     .title = "a client names itself by a client identifier",
     .needs = needed,
     .evidence = Evidence::one_frame,
     .concerns = is_client_message,
     .applies =
         [](const Packet& p, const Known& known) {
             return is_from_client(p, known) && (identifier_of(p) || shows_all_options(p));
         },
     .holds = [](const Packet& p) { return identifier_of(p).has_value(); },
     .points_at = Dhcp::cookie,
     .expected = "a client-identifier option (61)",
     .actual_of = [](const Packet&, const Known&) { return std::string("none"); },
     .at = at_dhcp},
    {.id = "RULE-RFC4390-2.1-05",
     .checks = {&rfc4390::client_identifier_format},
     .title = "a client identifier is type 255, an IAID and a DUID",
     .needs = needed,
     .evidence = Evidence::one_frame,
     .concerns = is_client_message,
     .applies =
         [](const Packet& p, const Known& known) {
             return is_from_client(p, known) && identifier_of(p) && !is_split(p, dhcp_option::client_identifier);
         },
     .holds = [](const Packet& p) { return client_identifier(*identifier_of(p)).has_value(); },
     .points_at = DhcpClientId::type,
     .expected = "type 255, 4 octets of IAID, then a DUID",
     .actual_of =
         [](const Packet& p, const Known&) {
             const auto identifier = identifier_of(p);
             return identifier->empty() ? std::string("empty") : hex_octets(*identifier);
         },
     .at = at_identifier},
    {.id = "RULE-RFC4390-2.2-01",
     .checks = {&rfc4390::broadcast_flag_set},
     .title = "ciaddr is 0 while a client asks for an address",
     .needs = needed,
     .evidence = Evidence::one_frame,
     .concerns = is_client_message,
     .applies = [](const Packet& p,
                   const Known& known) { return is_of_this_link(p, known) && (is_discover(p) || is_selecting(p)); },
     .holds = [](const Packet& p) { return !knows_address(p); },
     .points_at = Dhcp::ciaddr,
     .expected = "0.0.0.0",
     .at = at_dhcp},
    // DHCPINFORM, sent by one that has its address from elsewhere, is in none of the states that the text names.
    {.id = "RULE-RFC4390-2.2-02",
     .checks = {&rfc4390::broadcast_flag_clear},
     .title = "a client that fills in ciaddr does not ask for a broadcast reply",
     .needs = needed,
     .evidence = Evidence::one_frame,
     .concerns = is_client_message,
     .applies =
         [](const Packet& p, const Known& known) {
             if (!is_of_this_link(p, known)) return false;
             const bool is_bound = client_message(p) == DhcpType::release || (is_request(p) && !is_selecting(p));
             return is_bound && knows_address(p);
         },
     .holds = [](const Packet& p) { return !dhcp_of(p)[Dhcp::broadcast]; },
     .points_at = Dhcp::broadcast,
     .expected = "0",
     .at = at_dhcp},
    // What a relay agent gets of it goes by unicast, and so does what a client with an address is sent: an
    // acknowledgement
    // does not tell whether it has one, since ciaddr may be 0 there (RFC 2131, table 3).
    {.id = "RULE-RFC4390-2.2-03",
     .checks = {&rfc4390::server_reply},
     .title = "a reply to a client that asks for a broadcast is broadcast",
     .needs = needed,
     .evidence = Evidence::one_frame,
     .applies =
         [](const Packet& p) {
             if (p.is_fragment || p.udp[Udp::source] != dhcp_server_port || p.udp[Udp::destination] != dhcp_client_port)
                 return false;
             const auto dhcp = dhcp_of(p);
             if (!dhcp || dhcp[Dhcp::op] != Dhcp::reply || dhcp[Dhcp::cookie] != Dhcp::magic) return false;
             const bool is_offer = dhcp_type(udp_payload(p)) == DhcpType::offer;
             return is_offer && dhcp[Dhcp::broadcast] && dhcp[Dhcp::ciaddr] == 0 && dhcp[Dhcp::giaddr] == 0;
         },
     .holds = [](const Packet& p) { return p.ipv4[Ipv4::destination] == limited_broadcast; },
     .points_at = Ipv4::destination,
     .expected = "255.255.255.255, since BROADCAST is set"},
};
static_assert(are_declared(rules_of_rfc4390));

}  // namespace

std::span<const Rule> rfc4390() { return rules_of_rfc4390; }

}  // namespace ipoib::rules
