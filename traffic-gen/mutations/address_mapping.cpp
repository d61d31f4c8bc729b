// SPDX-License-Identifier: GPL-2.0-or-later
// Wrong link-layer addresses in ARP and Neighbour Discovery. RFC 4391, 9.
#include "traffic-gen/mutations/kinds.hpp"

#include "protocol/build/headers.hpp"

namespace ipoib::traffic {
using namespace wire;

namespace {

const Mutation arp_hardware{
    .name = "arp-hardware-1",
    .what = "the hardware type of Ethernet in ARP",
    .breaks = {&rfc4391::arp_hardware_type},
    .profile = "arp",
    .change =
        [](build::PacketBuilder& packet) {
            if (packet.has(spec_of<Arp>)) packet.set(Arp::hardware, 1);
        },
};

const Mutation arp_address_flags{
    .name = "arp-address-flags",
    .what = "a reserved flag in the sender's link-layer address in ARP",
    .breaks = {&rfc4391::link_address_flags_tx, &rfc4755::cm_flags_reserved_tx},
    .profile = "arp",
    .change =
        [](build::PacketBuilder& packet) {
            if (packet.has(spec_of<ArpAddresses>)) packet.set(ArpAddresses::sha_flags, 0x01);
        },
};

const Mutation arp_hardware_length{
    .name = "arp-hardware-length",
    .what = "a hardware address length of 6 in ARP",
    .breaks = {&rfc4391::arp_hardware_length},
    .profile = "arp",
    .change =
        [](build::PacketBuilder& packet) {
            if (packet.has(spec_of<Arp>)) packet.set(Arp::hardware_length, 6);
        },
};

const Mutation arp_operation{
    .name = "arp-operation",
    .what = "an operation in ARP that is neither request nor reply",
    .breaks = {&rfc4391::arp_fields},
    .profile = "arp",
    .change =
        [](build::PacketBuilder& packet) {
            if (packet.has(spec_of<Arp>)) packet.set(Arp::operation, 0x20);
        },
};

const Mutation nd_option_type{
    .name = "nd-option-type",
    .what = "the option of the target in a Neighbour Solicitation, and of the source in an Advertisement",
    .breaks = {&rfc4391::nd_option_type},
    .profile = "nd",
    .change =
        [](build::PacketBuilder& packet) {
            if (const auto option = packet.get<LinkAddressOption>())
                packet.set(LinkAddressOption::type, static_cast<std::uint8_t>(3 - option[LinkAddressOption::type]));
        },
};

const Mutation nd_address_flags{
    .name = "nd-address-flags",
    .what = "a reserved flag in a link-layer address in Neighbour Discovery",
    .breaks = {&rfc4391::link_address_flags_tx, &rfc4755::cm_flags_reserved_tx},
    .profile = "nd",
    .change =
        [](build::PacketBuilder& packet) {
            if (packet.has(spec_of<LinkAddressOption>)) packet.set(LinkAddressOption::flags, 0x01);
        },
};

const Mutation nd_option_length{
    .name = "nd-option-length",
    .what = "a link-layer address option of 16 octets",
    .breaks = {&rfc4391::nd_option_length},
    .profile = "nd",
    .change =
        [](build::PacketBuilder& packet) {
            if (packet.has(spec_of<LinkAddressOption>)) packet.set(LinkAddressOption::length, 2);
        },
};

const Mutation nd_option_padding{
    .name = "nd-option-padding",
    .what = "two octets before the address of an option that are not zero",
    .breaks = {&rfc4391::nd_option_padding},
    .profile = "nd",
    .change =
        [](build::PacketBuilder& packet) {
            if (packet.has(spec_of<LinkAddressOption>)) packet.set(LinkAddressOption::padding, 0x0102);
        },
};

const Mutation arp_sender_qpn{
    .name = "arp-sender-qpn",
    .what = "no queue pair in the sender's link-layer address in ARP replies",
    .breaks = {&rfc4391::link_address_format},
    .profile = "arp",
    .change =
        [](build::PacketBuilder& packet) {
            if (packet.has(spec_of<Arp>) && packet.get<Arp>()[Arp::operation] == Arp::reply)
                packet.set(ArpAddresses::sha_qpn, 0);
        },
};

const Mutation arp_sender_gid{
    .name = "arp-sender-gid",
    .what = "no GID in the sender's link-layer address in ARP",
    .breaks = {&rfc4391::link_address_gid},
    .profile = "arp",
    .change =
        [](build::PacketBuilder& packet) {
            if (packet.has(spec_of<ArpAddresses>)) packet.set(ArpAddresses::sha_gid, Gid{});
        },
};

const Mutation arp_other_gid{
    .name = "arp-other-gid",
    .what = "a GID in ARP requests that is not made of the port GUID",
    .breaks = {&rfc4391::link_address_port_gid},
    .profile = "arp",
    .change =
        [](build::PacketBuilder& packet) {
            constexpr std::uint64_t alias = std::uint64_t{1} << 63;
            const auto addresses = packet.get<ArpAddresses>();
            if (!addresses || !is_multicast(packet)) return;
            const auto gid = addresses[ArpAddresses::sha_gid];
            packet.set(ArpAddresses::sha_gid, Gid::of(gid.prefix(), gid.interface_id() | alias));
        },
};

const Mutation arp_cut{
    .name = "arp-cut",
    .what = "ARP that ends within the target's hardware address",
    .breaks = {&rfc4391::arp_hardware_address},
    .profile = "arp",
    .change =
        [](build::PacketBuilder& packet) {
            constexpr std::size_t before_target = ArpAddresses::tha_gid.at.bit / 8;
            const auto addresses = packet.get<ArpAddresses>();
            if (!addresses) return;
            const std::vector<std::uint8_t> kept(addresses.data(), addresses.data() + before_target);
            packet.remove<ArpAddresses>().add(kept);
        },
};

const Mutation nd_no_option{
    .name = "nd-no-option",
    .what = "a Neighbour Solicitation to a group without a link-layer address",
    .breaks = {&rfc4391::nd_option_used},
    .profile = "nd",
    .change =
        [](build::PacketBuilder& packet) {
            if (packet.has(spec_of<LinkAddressOption>) && is_multicast(packet)) packet.remove<LinkAddressOption>();
        },
};

const Mutation nd_option_qpn{
    .name = "nd-option-qpn",
    .what = "no queue pair in the link-layer address of a Neighbour Advertisement",
    .breaks = {&rfc4391::nd_option_address},
    .profile = "nd",
    .change =
        [](build::PacketBuilder& packet) {
            if (is_unicast_with<LinkAddressOption>(packet)) packet.set(LinkAddressOption::qpn, 0);
        },
};

}  // namespace
}  // namespace ipoib::traffic
