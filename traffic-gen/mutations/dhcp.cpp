// SPDX-License-Identifier: GPL-2.0-or-later
// Wrong messages of DHCP clients. RFC 4390, 2.
#include "traffic-gen/mutation.hpp"

#include "protocol/build/headers.hpp"
#include "protocol/wire/dhcp_message.hpp"

namespace ipoib::traffic {
using namespace wire;

namespace {

bool is_of_client(const build::PacketBuilder& packet) {
    const auto dhcp = packet.get<Dhcp>();
    return dhcp && dhcp[Dhcp::op] == Dhcp::request;
}
bool has_address(const build::PacketBuilder& packet) { return packet.get<Dhcp>()[Dhcp::ciaddr] != 0; }

std::optional<DhcpType> type_of(const build::PacketBuilder& message) {
    const auto frame = message.build();
    Packet packet;
    decode(frame, packet);
    return dhcp_type(udp_payload(packet));
}

/// Gives a field of the fixed part another value in what clients send.
template <auto Field, auto Value>
void set_by_client(build::PacketBuilder& packet) {
    if (is_of_client(packet)) packet.set(*Field, Value);
}

const Mutation hardware_type{
    .name = "dhcp-htype",
    .what = "a DHCP client with the hardware type of Ethernet",
    .breaks = {&rfc4390::htype},
    .profile = "dhcp",
    .change = set_by_client<&Dhcp::htype, std::uint8_t{1}>,
};

const Mutation hardware_length{
    .name = "dhcp-hlen",
    .what = "a DHCP client that says how long its link-layer address is",
    .breaks = {&rfc4390::hlen},
    .profile = "dhcp",
    .change = set_by_client<&Dhcp::hlen, std::uint8_t{20}>,
};

const Mutation hardware_address{
    .name = "dhcp-chaddr",
    .what = "a DHCP client that puts what fits of its link-layer address into chaddr",
    .breaks = {&rfc4390::chaddr_zero},
    .profile = "dhcp",
    .change = set_by_client<&Dhcp::chaddr, OctetArray<16>{0, 0, 0, 0x48, 0xfe, 0x80}>,
};

const Mutation no_identifier{
    .name = "dhcp-no-identifier",
    .what = "a DISCOVER without a client identifier",
    .breaks = {&rfc4390::client_identifier_present},
    .profile = "dhcp",
    .change =
        [](build::PacketBuilder& packet) {
            if (!is_of_client(packet) || type_of(packet) != DhcpType::discover) return;
            build::PacketBuilder bare;
            build::append_headers<Lrh, Grh, Bth, Deth, Encap, Ipv4, Udp, Dhcp>(bare, packet);
            constexpr auto discover = static_cast<std::uint8_t>(DhcpType::discover);
            packet = bare.add(std::array{dhcp_option::message_type, std::uint8_t{1}, discover, dhcp_option::end});
        },
};

const Mutation hardware_identifier{
    .name = "dhcp-identifier-type",
    .what = "a client identifier of a hardware type, as before RFC 4361",
    .breaks = {&rfc4390::client_identifier_format},
    .profile = "dhcp",
    .change =
        [](build::PacketBuilder& packet) {
            if (packet.has(spec_of<DhcpClientId>)) packet.set(DhcpClientId::type, Dhcp::infiniband);
        },
};

const Mutation no_broadcast_flag{
    .name = "dhcp-no-broadcast",
    .what = "a DHCP client without an address that does not ask for replies by broadcast",
    .breaks = {&rfc4390::broadcast_reply_requested, &rfc4390::broadcast_flag_set},
    .profile = "dhcp",
    .change =
        [](build::PacketBuilder& packet) {
            if (is_of_client(packet) && !has_address(packet)) packet.set(Dhcp::broadcast, false);
        },
};

const Mutation early_address{
    .name = "dhcp-ciaddr",
    .what = "a DHCP client that asks for an address and gives one in ciaddr",
    .breaks = {&rfc4390::broadcast_flag_set},
    .profile = "dhcp",
    .change =
        [](build::PacketBuilder& packet) {
            if (is_of_client(packet) && !has_address(packet)) packet.set(Dhcp::ciaddr, 0x0a0100c8);
        },
};

const Mutation late_broadcast_flag{
    .name = "dhcp-broadcast-flag",
    .what = "a DHCP client that has an address and still asks for replies by broadcast",
    .breaks = {&rfc4390::broadcast_flag_clear},
    .profile = "dhcp",
    .change =
        [](build::PacketBuilder& packet) {
            if (is_of_client(packet) && has_address(packet)) packet.set(Dhcp::broadcast, true);
        },
};

}  // namespace
}  // namespace ipoib::traffic
