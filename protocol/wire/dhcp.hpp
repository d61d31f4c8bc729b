// SPDX-License-Identifier: GPL-2.0-or-later
// DHCP message, its options, and the client identifier that IPoIB needs. RFC 2131, 2; RFC 2132; RFC 4361, 6; RFC 4390.
#pragma once

#include "protocol/wire/field.hpp"

namespace ipoib::wire {

/// UDP ports. RFC 2131, 4.1.
inline constexpr std::uint16_t dhcp_server_port = 67, dhcp_client_port = 68;

/// Options that IPoIB judges. RFC 2132.
namespace dhcp_option {
inline constexpr std::uint8_t pad = 0, subnet_mask = 1, router = 3, host_name = 12, requested_address = 50,
                              lease_time = 51, overload = 52, message_type = 53, server_identifier = 54,
                              parameter_request_list = 55, maximum_message_size = 57, renewal_time = 58,
                              rebinding_time = 59, client_identifier = 61, end = 255;
}  // namespace dhcp_option
inline constexpr std::array<Named, 15> dhcp_option_names{
    {{dhcp_option::pad, "Pad"},
     {dhcp_option::subnet_mask, "Subnet Mask"},
     {dhcp_option::router, "Router"},
     {dhcp_option::host_name, "Host Name"},
     {dhcp_option::requested_address, "Requested IP Address"},
     {dhcp_option::lease_time, "IP Address Lease Time"},
     {dhcp_option::overload, "Option Overload"},
     {dhcp_option::message_type, "DHCP Message Type"},
     {dhcp_option::server_identifier, "Server Identifier"},
     {dhcp_option::parameter_request_list, "Parameter Request List"},
     {dhcp_option::maximum_message_size, "Maximum DHCP Message Size"},
     {dhcp_option::renewal_time, "Renewal (T1) Time Value"},
     {dhcp_option::rebinding_time, "Rebinding (T2) Time Value"},
     {dhcp_option::client_identifier, "Client-identifier"},
     {dhcp_option::end, "End"}}};

/// Values of the option DHCP Message Type. RFC 2132, 9.6.
enum class DhcpType : std::uint8_t {
    discover = 1,
    offer = 2,
    request = 3,
    decline = 4,
    ack = 5,
    nak = 6,
    release = 7,
    inform = 8,
};
inline constexpr std::array<Named, 8> dhcp_type_names{{{1, "DHCPDISCOVER"},
                                                       {2, "DHCPOFFER"},
                                                       {3, "DHCPREQUEST"},
                                                       {4, "DHCPDECLINE"},
                                                       {5, "DHCPACK"},
                                                       {6, "DHCPNAK"},
                                                       {7, "DHCPRELEASE"},
                                                       {8, "DHCPINFORM"}}};

/// The fixed part with the magic cookie; options follow it. RFC 2131, 2 and 3.
struct Dhcp {
    static constexpr std::string_view key = "dhcp", name = "DHCP", title = "Dynamic Host Configuration Protocol";
    static constexpr std::size_t size = 240;
    static constexpr std::uint8_t request = 1, reply = 2;
    /// First octets of the options field of every DHCP message. RFC 2131, 3.
    static constexpr std::uint32_t magic = 0x63825363;
    /// `htype` over IPoIB. RFC 4390, 2.1.
    static constexpr std::uint8_t infiniband = 32;
    static constexpr std::array<Named, 2> op_names{{{request, "BOOTREQUEST"}, {reply, "BOOTREPLY"}}};
    static constexpr std::array<Named, 2> hardware_names{{{1, "Ethernet"}, {infiniband, "InfiniBand"}}};
    static constexpr std::array<Named, 1> cookie_names{{{magic, "DHCP"}}};
    template <class T>
    using F = Field<Dhcp, T>;

    static constexpr F<std::uint8_t> op{"op", octet(0), 8, Show::dec, "Request or reply", op_names};
    static constexpr F<std::uint8_t> htype{"htype", octet(1), 8, Show::dec, "Hardware type", hardware_names};
    static constexpr F<std::uint8_t> hlen{"hlen", octet(2), 8, Show::dec, "Octets of chaddr in use"};
    static constexpr F<std::uint8_t> hops{"hops", octet(3), 8, Show::dec, "Relay agents passed"};
    static constexpr F<std::uint32_t> xid{"xid", octet(4), 32, Show::hex, "Transaction"};
    static constexpr F<std::uint16_t> secs{"secs", octet(8), 16, Show::dec, "Seconds since the client began"};
    static constexpr F<bool> broadcast{"BROADCAST", octet(10), 1, Show::flag, "Replies must be broadcast"};
    static constexpr F<std::uint16_t> reserved15{"MBZ", octet(10, 1), 15, Show::reserved, ""};
    static constexpr F<std::uint32_t> ciaddr{"ciaddr", octet(12), 32, Show::ipv4, "Client's address, when it has one"};
    static constexpr F<std::uint32_t> yiaddr{"yiaddr", octet(16), 32, Show::ipv4, "Address given to the client"};
    static constexpr F<std::uint32_t> siaddr{"siaddr", octet(20), 32, Show::ipv4, "Next server"};
    static constexpr F<std::uint32_t> giaddr{"giaddr", octet(24), 32, Show::ipv4, "Relay agent"};
    static constexpr F<OctetArray<16>> chaddr{"chaddr", octet(28), 128, Show::octets, "Client's hardware address"};
    static constexpr F<OctetArray<64>> sname{"sname", octet(44), 512, Show::text, "Server's name"};
    static constexpr F<OctetArray<128>> file{"file", octet(108), 1024, Show::text, "Boot file"};
    static constexpr F<std::uint32_t> cookie{"cookie", octet(236), 32, Show::hex, "Magic cookie", cookie_names};
    static constexpr auto fields = table(op, htype, hlen, hops, xid, secs, broadcast, reserved15, ciaddr, yiaddr,
                                         siaddr, giaddr, chaddr, sname, file, cookie);
};
static_assert(tiles(Dhcp::fields, Dhcp::size));

/// Calls `visit(code, value)` for each option, without Pad and End. Ends at End, at the end of the octets, or at the
/// first option that does not fit, which is returned (empty when all fitted). RFC 2132, 2.
template <class Visit>
constexpr Octets for_each_dhcp_option(Octets options, Visit&& visit) {
    while (!options.empty() && options[0] != dhcp_option::end) {
        if (options[0] == dhcp_option::pad) {
            options = options.subspan(1);
            continue;
        }
        if (options.size() < 2 || options.size() - 2 < options[1]) return options;
        visit(options[0], options.subspan(2, options[1]));
        options = options.subspan(2 + std::size_t{options[1]});
    }
    return {};
}

/// The value of the first option of that code in a message (fixed part included); nothing when it is not there. An
/// option in the fields `sname` and `file` (Option Overload) is not looked for.
constexpr std::optional<Octets> find_dhcp_option(Octets message, std::uint8_t code) noexcept {
    if (message.size() < Dhcp::size) return std::nullopt;
    std::optional<Octets> found;
    for_each_dhcp_option(message.subspan(Dhcp::size), [&](std::uint8_t at, Octets value) {
        if (at == code && !found) found = value;
    });
    return found;
}

/// The value of an option that is one 32-bit number: an address or a time. RFC 2132.
constexpr std::optional<std::uint32_t> dhcp_number(Octets message, std::uint8_t code) noexcept {
    const auto value = find_dhcp_option(message, code);
    if (!value || value->size() != 4) return std::nullopt;
    return static_cast<std::uint32_t>(read_bits(value->data(), {0}, 32));
}

/// The message's type; nothing when the option is missing or not one octet. RFC 2132, 9.6.
constexpr std::optional<DhcpType> dhcp_type(Octets message) noexcept {
    const auto value = find_dhcp_option(message, dhcp_option::message_type);
    if (!value || value->size() != 1) return std::nullopt;
    return static_cast<DhcpType>((*value)[0]);
}

/// Head of a client identifier made of IAID and DUID; the rest of the DUID follows. RFC 4361, 6.1; RFC 8415, 11.
struct DhcpClientId {
    static constexpr std::string_view key = "dhcp_client_id", name = "DHCPClientId",
                                      title = "DHCP client identifier (RFC 4361)";
    static constexpr std::size_t size = 7;
    /// `Type` of an identifier of this form. RFC 4361, 6.1.
    static constexpr std::uint8_t iaid_and_duid = 255;
    /// The longest DUID with its type. RFC 8415, 11.1.
    static constexpr std::size_t max_duid = 130;
    static constexpr std::array<Named, 4> type_names{
        {{0, "not a hardware address"}, {1, "Ethernet"}, {32, "InfiniBand"}, {iaid_and_duid, "IAID and DUID"}}};
    static constexpr std::array<Named, 4> duid_names{
        {{1, "DUID-LLT"}, {2, "DUID-EN"}, {3, "DUID-LL"}, {4, "DUID-UUID"}}};
    template <class T>
    using F = Field<DhcpClientId, T>;

    static constexpr F<std::uint8_t> type{"Type", octet(0), 8, Show::dec, "", type_names};
    static constexpr F<std::uint32_t> iaid{"IAID", octet(1), 32, Show::hex, "Interface of the client"};
    static constexpr F<std::uint16_t> duid_type{"DUID.Type", octet(5), 16, Show::dec, "", duid_names};
    static constexpr auto fields = table(type, iaid, duid_type);
};
static_assert(tiles(DhcpClientId::fields, DhcpClientId::size));

/// A client identifier of the form of RFC 4361, 6.1.
struct ClientIdentifier {
    std::uint32_t iaid = 0;
    Octets duid;  ///< with its 2-octet type
};

/// The value of option 61 as RFC 4361 wants it; nothing when it has another form: another type, or a DUID that is
/// shorter than its type and one octet or longer than the longest.
constexpr std::optional<ClientIdentifier> client_identifier(Octets value) noexcept {
    const auto head = View<DhcpClientId>::at(value);
    constexpr std::size_t duid = DhcpClientId::duid_type.at.bit / 8;
    if (!head || head[DhcpClientId::type] != DhcpClientId::iaid_and_duid) return std::nullopt;
    if (value.size() == DhcpClientId::size || value.size() - duid > DhcpClientId::max_duid) return std::nullopt;
    return ClientIdentifier{head[DhcpClientId::iaid], value.subspan(duid)};
}

}  // namespace ipoib::wire
