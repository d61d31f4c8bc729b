// SPDX-License-Identifier: GPL-2.0-or-later
// Wrong use of UD. RFC 4391, 2 and 3.
#include "conformance/mutants/prelude.hpp"

namespace ipoib::conformance {

const Mutant sends_middle_packets{
    .name = "ud-opcode-wrong",
    .what = "sends unicast IP with a reserved opcode of UD",
    .breaks = {&rfc4391::ud_transport},
    .stack =
        [](Policy& policy) {
            policy.on_send = [](build::PacketBuilder& packet) {
                const auto bth = packet.get<Bth>();
                const auto encap = packet.get<Encap>();
                if (bth && encap && bth[Bth::dest_qp] != Bth::multicast_qp && encap[Encap::type] != EtherType::arp)
                    packet.set(Bth::opcode, opcode_of(TransportService::unreliable_datagram, Operation::send_first));
            };
        },
    // Where UD is expected of a peer with flags, another opcode looks like heeding them.
    .sometimes = {&rfc4755::ud_only_ignores_flags, &rfc4755::cm_flags_reserved_rx},
    .spares = {"IPOIB-4391-2-VAL-002", "IPOIB-4391-2-VAL-003", "IPOIB-4391-5-VAL-012", "IPOIB-4391-5-VAL-013",
               "IPOIB-4391-2-VAL-005"},
    .twin = Twin{},
};

const Mutant hca_takes_any_p_key{
    .name = "hca-any-pkey",
    .what = "the HCA takes packets of any partition",
    .breaks = {&rfc4391::ud_same_partition_and_qkey, &rfc4391::pkey_match},
    .hca = [](HcaBehaviour& hca) { hca.discards_wrong_p_key = false; },
    .sometimes = {&rfc4392::limited_members_kept_apart},
    .spares = {"IPOIB-4391-5-VAL-009"},
};

const Mutant hca_any_p_key_in_groups{
    .name = "hca-any-multicast-pkey",
    .what = "the HCA takes multicast of any partition",
    .breaks = {&rfc4391::ud_same_partition_and_qkey, &rfc4391::pkey_match},
    .hca = [](HcaBehaviour& hca) { hca.discards_wrong_p_key_of_multicast = false; },
    .sometimes = {&rfc4392::limited_members_kept_apart},
    .spares = {"IPOIB-4391-5-VAL-009"},
};

const Mutant hca_takes_neighbouring_p_keys{
    .name = "hca-pkey-low-octet",
    .what = "the HCA looks at the low octet of a P_Key only",
    .breaks = {&rfc4391::ud_same_partition_and_qkey, &rfc4391::pkey_match},
    .hca = [](HcaBehaviour& hca) { hca.p_key_bits = 0x80ff; },
    .spares = {"IPOIB-4391-5-VAL-009"},
};

const Mutant drops_odd_lengths{
    .name = "three-pad-octets-lost",
    .what = "drops packets with three octets of padding",
    .breaks = {&rfc4391::ud_transport},
    .stack = [](Policy& policy) { policy.accepts_length = [](std::size_t length) { return length % 4 != 1; }; },
    .sometimes = {&rfc4391::ip_mtu_2044},
    .spares = {"IPOIB-4391-2-VAL-002", "IPOIB-4391-2-VAL-003", "IPOIB-4391-5-VAL-012", "IPOIB-4391-5-VAL-013",
               "IPOIB-4391-2-VAL-005"},
};

const Mutant headers_alone_lost{
    .name = "shortest-datagrams-lost",
    .what = "drops IPv4 packets that carry nothing behind their headers",
    .breaks = {&rfc4391::ud_transport},
    .stack =
        [](Policy& policy) {
            policy.accepts_length = [](std::size_t length) { return length > Ipv4::size + Icmp::size; };
        },
    .spares = {"IPOIB-4391-2-VAL-002", "IPOIB-4391-2-VAL-003", "IPOIB-4391-5-VAL-012", "IPOIB-4391-5-VAL-013",
               "IPOIB-4391-2-VAL-005"},
};

const Mutant delivers_no_ipv6_unicast{
    .name = "ipv6-undelivered",
    .what = "gives programs no IPv6 datagram that came for the interface's own address",
    .breaks = {&rfc4391::ud_transport},
    .stack =
        [](Policy& policy) { policy.delivers = [](const IpAddress& to) { return to.is_v4() || to.is_multicast(); }; },
    .spares = {"IPOIB-4391-2-VAL-001", "IPOIB-4391-2-VAL-003", "IPOIB-4391-5-VAL-012", "IPOIB-4391-5-VAL-013",
               "IPOIB-4391-2-VAL-005"},
};

const Mutant delivers_no_multicast{
    .name = "multicast-undelivered",
    .what = "gives programs nothing that was sent to a group",
    .breaks = {&rfc4391::fabric_multicast},
    .stack = [](Policy& policy) { policy.delivers = [](const IpAddress& to) { return !to.is_multicast(); }; },
    .spares = {"IPOIB-4391-2-VAL-004"},
};

const Mutant delivers_no_ipv6_multicast{
    .name = "ipv6-multicast-undelivered",
    .what = "gives programs nothing that was sent to an IPv6 group",
    .breaks = {&rfc4391::fabric_multicast},
    .stack =
        [](Policy& policy) { policy.delivers = [](const IpAddress& to) { return to.is_v4() || !to.is_multicast(); }; },
    .spares = {"IPOIB-4391-2-VAL-004"},
};

const Mutant delivers_other_source{
    .name = "delivers-other-source",
    .what = "tells programs the address that a datagram was sent to as that of its sender",
    .breaks = {&rfc4391::ud_transport, &rfc4391::fabric_multicast, &rfc4391::broadcast_group_carries_broadcasts},
    .stack = [](Policy& policy) { policy.told_source = [](const IpAddress&, const IpAddress& to) { return to; }; },
    .spares = {"IPOIB-4391-2-VAL-001", "IPOIB-4391-2-VAL-003", "IPOIB-4391-2-VAL-004", "IPOIB-4391-5-VAL-005",
               "IPOIB-4391-5-VAL-012", "IPOIB-4391-5-VAL-013", "IPOIB-4391-9.2-VAL-002", "IPOIB-4391-2-VAL-005"},
    .twin = Twin{.breaks = Broken{&rfc4391::ud_transport, &rfc4391::fabric_multicast},
                 .spares = Spared{"IPOIB-4391-2-VAL-001", "IPOIB-4391-2-VAL-003", "IPOIB-4391-2-VAL-004",
                                  "IPOIB-4391-5-VAL-012", "IPOIB-4391-5-VAL-013", "IPOIB-4391-2-VAL-005"}},
};

const Mutant delivers_other_octets{
    .name = "delivers-other-octets",
    .what = "gives programs datagrams whose last octet is another",
    .breaks = {&rfc4391::ud_transport, &rfc4391::fabric_multicast, &rfc4391::broadcast_group_carries_broadcasts},
    .stack =
        [](Policy& policy) {
            policy.told_payload = [](Octets payload) {
                std::vector<std::uint8_t> told{payload.begin(), payload.end()};
                if (!told.empty()) told.back() ^= 1;
                return told;
            };
        },
    .spares = {"IPOIB-4391-2-VAL-001", "IPOIB-4391-2-VAL-003", "IPOIB-4391-2-VAL-004", "IPOIB-4391-5-VAL-005",
               "IPOIB-4391-5-VAL-012", "IPOIB-4391-5-VAL-013", "IPOIB-4391-9.2-VAL-002", "IPOIB-4391-2-VAL-005"},
    .twin = Twin{.breaks = Broken{&rfc4391::ud_transport, &rfc4391::fabric_multicast},
                 .spares = Spared{"IPOIB-4391-2-VAL-001", "IPOIB-4391-2-VAL-003", "IPOIB-4391-2-VAL-004",
                                  "IPOIB-4391-5-VAL-012", "IPOIB-4391-5-VAL-013", "IPOIB-4391-2-VAL-005"}},
};

const Mutant delivers_no_broadcast{
    .name = "broadcast-undelivered",
    .what = "gives programs no limited broadcast",
    .breaks = {&rfc4391::broadcast_group_carries_broadcasts},
    .stack = [](Policy& policy) { policy.delivers = [](const IpAddress& to) { return !to.is_limited_broadcast(); }; },
    .spares = {"IPOIB-4391-2-VAL-004", "IPOIB-4391-5-VAL-005", "IPOIB-4391-9.2-VAL-002"},
};

const Mutant answers_groups_with_errors{
    .name = "answers-groups-with-errors",
    .what = "takes what came to a group for sent to it alone, and answers it with errors of ICMP",
    .breaks = {&rfc4391::fabric_multicast, &rfc4391::broadcast_group_carries_broadcasts},
    .stack = [](Policy& policy) { policy.answers_groups_with_errors = true; },
    .spares = {"IPOIB-4391-2-VAL-002", "IPOIB-4391-5-VAL-005", "IPOIB-4391-9.2-VAL-002", "IPOIB-4391-10-VAL-014"},
    .twin = Twin{.breaks = Broken{&rfc4391::fabric_multicast},
                 .spares = Spared{"IPOIB-4391-2-VAL-002", "IPOIB-4391-10-VAL-014"}},
};

}  // namespace ipoib::conformance
