// SPDX-License-Identifier: GPL-2.0-or-later
// Wrong DHCP clients and servers. RFC 4390.
#include "conformance/mutants/prelude.hpp"

namespace ipoib::conformance {

using Purpose = stack::DhcpPurpose;

const Mutant dhcp_htype_of_ethernet{
    .name = "dhcp-htype-1",
    .what = "sends DHCP with the hardware type of Ethernet",
    .breaks = {&rfc4390::htype},
    .stack = [](Policy& policy) { policy.dhcp_htype = 1; },
};

const Mutant dhcp_hlen_of_address{
    .name = "dhcp-hlen-20",
    .what = "sends DHCP with the length of its link-layer address",
    .breaks = {&rfc4390::hlen},
    .stack = [](Policy& policy) { policy.dhcp_hlen = [](Purpose) { return std::uint8_t{LinkAddress::size}; }; },
};

const Mutant dhcp_part_of_address{
    .name = "dhcp-chaddr",
    .what = "puts the last 8 octets of its link-layer address into chaddr",
    .breaks = {&rfc4390::chaddr_zero},
    .stack =
        [](Policy& policy) {
            policy.dhcp_chaddr = [](const stack::HardwareAddress& address) {
                OctetArray<16> chaddr{};
                for (std::size_t i = 0; i < 8; ++i) chaddr[i] = address.octets[12 + i];
                return chaddr;
            };
        },
};

const Mutant dhcp_nameless{
    .name = "dhcp-no-identifier",
    .what = "sends DHCP without a client identifier",
    .breaks = {&rfc4390::client_identifier_present},
    .stack =
        [](Policy& policy) {
            policy.dhcp_client_identifier = [](std::uint64_t) { return std::vector<std::uint8_t>{}; };
        },
};

const Mutant dhcp_identifier_of_hardware{
    .name = "dhcp-identifier-32",
    .what = "makes its client identifier of hardware type and GUID",
    .breaks = {&rfc4390::client_identifier_format},
    .stack =
        [](Policy& policy) {
            policy.dhcp_client_identifier = [](std::uint64_t guid) {
                std::vector<std::uint8_t> identifier(9, Dhcp::infiniband);
                write_bits(identifier.data() + 1, octet(0), 64, guid);
                return identifier;
            };
        },
};

const Mutant dhcp_wants_unicast{
    .name = "dhcp-no-broadcast",
    .what = "never asks a DHCP server for a broadcast reply",
    .breaks = {&rfc4390::broadcast_reply_requested, &rfc4390::broadcast_flag_set},
    .stack = [](Policy& policy) { policy.dhcp_broadcast = [](Purpose) { return false; }; },
};

const Mutant dhcp_wants_broadcast{
    .name = "dhcp-always-broadcast",
    .what = "asks a DHCP server for a broadcast reply though it has an address",
    .breaks = {&rfc4390::broadcast_flag_clear},
    .stack = [](Policy& policy) { policy.dhcp_broadcast = [](Purpose) { return true; }; },
};

const Mutant dhcp_early_ciaddr{
    .name = "dhcp-early-ciaddr",
    .what = "fills ciaddr with the address that it was offered",
    .breaks = {&rfc4390::broadcast_flag_set},
    .stack = [](Policy& policy) { policy.dhcp_ciaddr = [](Purpose, std::uint32_t address) { return address; }; },
};

const Mutant dhcp_hlen_when_bound{
    .name = "dhcp-hlen-when-bound",
    .what = "renews its DHCP lease with the length of its link-layer address",
    .breaks = {&rfc4390::hlen},
    .stack =
        [](Policy& policy) {
            policy.dhcp_hlen = [](Purpose purpose) {
                return static_cast<std::uint8_t>(purpose == Purpose::address ? 0 : LinkAddress::size);
            };
        },
    .spares = {"IPOIB-4390-2.1-VAL-001"},
};

const Mutant dhcp_nameless_when_bound{
    .name = "dhcp-renews-without-identifier",
    .what = "renews its DHCP lease, and gives it back, without a client identifier",
    .breaks = {&rfc4390::client_identifier_present},
    .stack =
        [](Policy& policy) { policy.dhcp_names_client = [](Purpose purpose) { return purpose == Purpose::address; }; },
    .spares = {"IPOIB-4390-2.1-VAL-001"},
};

const Mutant dhcp_releases_namelessly{
    .name = "dhcp-releases-without-identifier",
    .what = "gives its DHCP lease back without a client identifier",
    .breaks = {&rfc4390::client_identifier_present},
    .stack =
        [](Policy& policy) { policy.dhcp_names_client = [](Purpose purpose) { return purpose != Purpose::release; }; },
    .spares = {"IPOIB-4390-2.1-VAL-001"},
};

const Mutant dhcp_many_clients{
    .name = "dhcp-identifier-changes",
    .what = "names itself by another IAID in each DHCP message",
    .breaks = {&rfc4390::client_identifier_format},
    .stack = [](Policy& policy) { policy.dhcp_iaid_of_its_own = [](std::uint32_t message) { return message; }; },
};

const Mutant dhcp_rebinds_by_broadcast{
    .name = "dhcp-rebinds-for-broadcast",
    .what = "asks for a broadcast reply when it asks any DHCP server to prolong its lease",
    .breaks = {&rfc4390::broadcast_flag_clear},
    .stack =
        [](Policy& policy) {
            policy.dhcp_broadcast = [](Purpose purpose) {
                return purpose == Purpose::address || purpose == Purpose::rebinding;
            };
        },
};

const Mutant dhcp_rebinds_without_address{
    .name = "dhcp-rebinds-without-ciaddr",
    .what = "leaves ciaddr zero when it asks any DHCP server to prolong its lease",
    .breaks = {&rfc4390::broadcast_flag_clear},
    .stack =
        [](Policy& policy) {
            policy.dhcp_ciaddr = [](Purpose purpose, std::uint32_t address) {
                return purpose == Purpose::address || purpose == Purpose::rebinding ? 0 : address;
            };
        },
};

const Mutant dhcp_server_unicasts{
    .name = "dhcp-server-unicasts",
    .what = "sends every reply of its DHCP server to the address that it gives",
    .breaks = {&rfc4390::server_reply},
    .stack = [](Policy& policy) { policy.dhcp_reply_is_broadcast = [](std::uint32_t) { return false; }; },
};

const Mutant dhcp_server_broadcasts{
    .name = "dhcp-server-broadcasts",
    .what = "broadcasts every reply of its DHCP server",
    .breaks = {&rfc4390::server_reply},
    .stack = [](Policy& policy) { policy.dhcp_reply_is_broadcast = [](std::uint32_t) { return true; }; },
};

}  // namespace ipoib::conformance
