// SPDX-License-Identifier: GPL-2.0-or-later
// Wrong frames. RFC 4391, 6; UD multicast.
#include "conformance/mutants/prelude.hpp"

namespace ipoib::conformance {

const Mutant reserved_not_zero{
    .name = "reserved-not-zero",
    .what = "sets a Reserved bit of the encapsulation header",
    .breaks = {&rfc4391::encap_reserved_tx},
    .stack = [](Policy& policy) { policy.encap_reserved = 0x0100; },
    .twin = Twin{},
};

const Mutant reserved_not_ignored{
    .name = "reserved-not-ignored",
    .what = "drops packets with Reserved bits",
    .breaks = {&rfc4391::encap_reserved_rx},
    .stack =
        [](Policy& policy) { policy.accepts_encap_reserved = [](std::uint16_t reserved) { return reserved == 0; }; },
    .twin = Twin{},
};

const Mutant takes_rarp_for_arp{
    .name = "rarp-taken-for-arp",
    .what = "learns addresses from packets of RARP",
    .breaks = {&rfc4391::encap_type_demultiplexing},
    .stack =
        [](Policy& policy) {
            policy.demultiplexed = [](EtherType type, Octets) {
                constexpr EtherType rarp{0x8035};
                return type == rarp ? EtherType::arp : type;
            };
        },
    .sometimes = {&rfc4391::ip_to_advertised_qpn},
    .spares = {"IPOIB-4391-6-INV-002", "IPOIB-4391-6-INV-004", "IPOIB-4391-6-INV-005", "IPOIB-4391-6-INV-006",
               "IPOIB-4391-6-INV-007", "IPOIB-4391-6-INV-008", "IPOIB-4391-9.2-INV-001", "IPOIB-4391-9.3-INV-001",
               "IPOIB-4391-10-INV-002", "IPOIB-4755-6-INV-002"},
};

const Mutant loses_some_traffic_classes{
    .name = "traffic-class-bit-lost",
    .what = "drops unicast whose GRH has a bit of the TClass",
    .breaks = {&rfc4391::grh_optional_on_receive},
    .stack =
        [](Policy& policy) {
            policy.accepts_packet = [](const Packet& packet) {
                constexpr std::uint8_t its_bit = 0x40;
                return packet.is_multicast || !packet.grh || (packet.grh[Grh::traffic_class] & its_bit) == 0;
            };
        },
    .twin = Twin{},
};

const Mutant groups_of_other_hop_limits_lost{
    .name = "group-hop-limit-lost",
    .what = "drops what came to a group with another HopLimit than the link's",
    .breaks = {&rfc4391::grh_optional_on_receive},
    .stack =
        [](Policy& policy) {
            policy.takes_from_group = [](View<Grh> grh, const Link& link) {
                return grh[Grh::hop_limit] == link.hop_limit;
            };
        },
    .twin = Twin{},
};

const Mutant goes_by_ip_version{
    .name = "type-by-ip-version",
    .what = "goes by the IP version instead of the Type",
    .breaks = {&rfc4391::encap_type_demultiplexing},
    .stack =
        [](Policy& policy) {
            policy.demultiplexed = [](EtherType type, Octets datagram) {
                if (datagram.empty()) return type;
                if (datagram[0] >> 4 == 4) return EtherType::ipv4;
                return datagram[0] >> 4 == 6 ? EtherType::ipv6 : type;
            };
        },
    .spares = {"IPOIB-4391-6-INV-004", "IPOIB-4391-6-INV-005", "IPOIB-4391-6-INV-006", "IPOIB-4391-6-INV-007",
               "IPOIB-4391-6-INV-008", "IPOIB-4391-9.2-INV-001", "IPOIB-4391-9.3-INV-001", "IPOIB-4391-10-INV-002",
               "IPOIB-4755-6-INV-002"},
    .twin = Twin{.spares = Spared{"IPOIB-4391-6-INV-003", "IPOIB-4391-6-INV-004", "IPOIB-4391-6-INV-005",
                                  "IPOIB-4391-6-INV-006", "IPOIB-4391-6-INV-007", "IPOIB-4391-6-INV-008",
                                  "IPOIB-4391-9.2-INV-001", "IPOIB-4391-9.3-INV-001", "IPOIB-4391-10-INV-002",
                                  "IPOIB-4755-6-INV-002"}},
};

const Mutant type_of_arp_wrong{
    .name = "arp-type-wrong",
    .what = "sends ARP under the Type of RARP",
    .breaks = {&rfc4391::encap_type},
    .stack =
        [](Policy& policy) {
            policy.encap_type = [](EtherType protocol) {
                return protocol == EtherType::arp ? EtherType{0x8035} : protocol;
            };
        },
};

const Mutant multicast_without_grh{
    .name = "multicast-without-grh",
    .what = "sends multicast without a GRH",
    .breaks = {&rfc4391::grh_on_multicast},
    .stack = [](Policy& policy) { policy.grh_on_multicast = false; },
    .twin = Twin{},
};

const Mutant multicast_without_grh_of_its_own{
    .name = "multicast-without-grh-controlled",
    .what = "sends multicast without a GRH on a link whose GRH has parameters of its own",
    .breaks = {&rfc4391::grh_on_multicast},
    .stack = [](Policy& policy) { policy.grh_on_multicast = false; },
    .scenario = "controlled",
    .sometimes = {&rfc4392::controlled_qkey_from_qp},
    .twin = Twin{},
};

const Mutant refuses_grh{
    .name = "refuses-grh",
    .what = "drops unicast that has a GRH",
    .breaks = {&rfc4391::grh_optional_on_receive},
    .stack =
        [](Policy& policy) {
            policy.accepts_grh = [](bool has_grh, bool is_multicast, bool) { return is_multicast || !has_grh; };
        },
    .twin = Twin{},
};

const Mutant demands_grh{
    .name = "demands-grh",
    .what = "drops unicast that has no GRH",
    .breaks = {&rfc4391::grh_optional_on_receive},
    .stack = [](Policy& policy) { policy.accepts_grh = [](bool has_grh, bool, bool) { return has_grh; }; },
    .sometimes = {&rfc4391::group_created_before_use, &rfc4391::sender_checks_group, &rfc4391::sender_joins_first},
    .twin = Twin{},
};

const Mutant reserved_of_odd_multicast{
    .name = "reserved-of-unaligned-multicast",
    .what = "sets a Reserved bit in packets with a GRH whose length is no multiple of 4",
    .breaks = {&rfc4391::encap_reserved_tx},
    .stack =
        [](Policy& policy) {
            policy.on_send = [](build::PacketBuilder& packet) {
                if (packet.has(spec_of<Grh>) && packet.octets().size() % 4 != 0) packet.set(Encap::reserved, 1);
            };
        },
};

const Mutant refuses_far_paths{
    .name = "grh-of-far-paths-lost",
    .what = "drops unicast whose GRH has a HopLimit above 64",
    .breaks = {&rfc4391::grh_optional_on_receive},
    .stack =
        [](Policy& policy) {
            policy.accepts_packet = [](const Packet& packet) {
                return packet.is_multicast || !packet.grh || packet.grh[Grh::hop_limit] <= 64;
            };
        },
};

const Mutant multicast_to_own_qp{
    .name = "multicast-destqp",
    .what = "puts the broadcast QPN of another into multicast packets",
    .breaks = {&udmc::multicast_destqp},
    .stack = [](Policy& policy) { policy.multicast_dest_qp = 0x000048; },
    .twin = Twin{},
};

const Mutant hca_takes_any_dest_qp{
    .name = "hca-any-destqp",
    .what = "the HCA takes multicast with any DestQP",
    .breaks = {&udmc::multicast_destqp},
    .hca = [](HcaBehaviour& hca) { hca.discards_wrong_dest_qp = false; },
};

const Mutant encapsulation_is_missing{
    .name = "encap-missing",
    .what = "sends IPv6 without the encapsulation header",
    .breaks = {&rfc4391::encap_header},
    .stack =
        [](Policy& policy) {
            policy.on_send = [](build::PacketBuilder& packet) {
                const auto encap = packet.get<Encap>();
                if (encap && encap[Encap::type] == EtherType::ipv6) packet.remove<Encap>();
            };
        },
};

const Mutant type_of_ipv6_wrong{
    .name = "ipv6-type-wrong",
    .what = "sends IPv6 under the Type of IPv4",
    .breaks = {&rfc4391::encap_type},
    .stack =
        [](Policy& policy) {
            policy.encap_type = [](EtherType protocol) {
                return protocol == EtherType::ipv6 ? EtherType::ipv4 : protocol;
            };
        },
};

const Mutant stops_at_unknown_type{
    .name = "stops-at-unknown-type",
    .what = "receives nothing any more after a packet with an unknown Type",
    .breaks = {&rfc4391::encap_type_demultiplexing, &rfc4391::encap_other_types},
    .stack = [](Policy& policy) { policy.survives_unknown_type = false; },
    .spares = {"IPOIB-4391-6-INV-004", "IPOIB-4391-6-INV-005", "IPOIB-4391-6-INV-006", "IPOIB-4391-6-INV-007",
               "IPOIB-4391-6-INV-008", "IPOIB-4391-9.2-INV-001", "IPOIB-4391-9.3-INV-001", "IPOIB-4391-10-INV-002",
               "IPOIB-4755-6-INV-002"},
    .does_not_live_on = true,
};

const Mutant arp_reserved_not_ignored{
    .name = "arp-reserved-not-ignored",
    .what = "drops ARP with Reserved bits",
    .breaks = {&rfc4391::encap_reserved_rx},
    .stack = [](Policy& policy) { policy.accepts_arp_reserved = [](std::uint16_t reserved) { return reserved == 0; }; },
};

const Mutant arp_reserved_not_zero{
    .name = "arp-reserved-not-zero",
    .what = "sets a Reserved bit of the encapsulation header of ARP",
    .breaks = {&rfc4391::encap_reserved_tx},
    .stack =
        [](Policy& policy) {
            policy.on_send = [](build::PacketBuilder& packet) {
                const auto encap = packet.get<Encap>();
                if (encap && encap[Encap::type] == EtherType::arp) packet.set(Encap::reserved, 0x8000);
            };
        },
};

const Mutant highest_reserved_not_ignored{
    .name = "reserved-highest-not-ignored",
    .what = "drops packets with the highest Reserved bit",
    .breaks = {&rfc4391::encap_reserved_rx},
    .stack =
        [](Policy& policy) {
            policy.accepts_encap_reserved = [](std::uint16_t reserved) { return (reserved & 0x8000) == 0; };
        },
    .twin = Twin{},
};

const Mutant refuses_grh_in_resolution{
    .name = "refuses-grh-in-resolution",
    .what = "drops ARP and Neighbour Discovery to itself that has a GRH",
    .breaks = {&rfc4391::grh_optional_on_receive},
    .stack =
        [](Policy& policy) {
            policy.accepts_grh = [](bool has_grh, bool is_multicast, bool is_resolution) {
                return is_multicast || !has_grh || !is_resolution;
            };
        },
    .twin = Twin{},
};

}  // namespace ipoib::conformance
