// SPDX-License-Identifier: GPL-2.0-or-later
// Stacks that are right in what is usual, and wrong at its edges.
#include "conformance/mutants/prelude.hpp"

namespace ipoib::conformance {

const Mutant answers_when_down{
    .name = "answers-when-down",
    .what = "answers still when its interface was taken down and has left its groups",
    .breaks = {&rfc4392::stays_in_broadcast_group},
    .stack = [](Policy& policy) { policy.when_down = stack::WhenDown::answers; },
    .spares = {"IPOIB-4392-4.2.5-INV-001", "IPOIB-4392-4.2.5-VAL-003", "RULE-RFC4392-4.2.5-02"},
};

const Mutant finishes_when_down{
    .name = "finishes-when-down",
    .what = "sends what has waited for a path when its interface was taken down meanwhile",
    .breaks = {&rfc4392::stays_in_broadcast_group},
    .stack = [](Policy& policy) { policy.when_down = stack::WhenDown::finishes; },
    .spares = {"IPOIB-4392-4.2.5-INV-001", "IPOIB-4392-4.2.5-VAL-002", "RULE-RFC4392-4.2.5-02"},
};

const Mutant takes_no_options{
    .name = "ipv4-options-lost",
    .what = "drops IPv4 packets that have options",
    .breaks = {&rfc4391::ud_transport},
    .stack =
        [](Policy& policy) {
            constexpr auto without_options = 5;
            policy.accepts_packet = [](const Packet& packet) {
                return !packet.ipv4 || packet.ip_protocol != IpProtocol::icmp ||
                       packet.ipv4[Ipv4::header_words] == without_options;
            };
        },
    .spares = {"IPOIB-4391-2-VAL-001", "IPOIB-4391-2-VAL-003", "IPOIB-4391-2-VAL-005", "IPOIB-4391-5-VAL-012",
               "IPOIB-4391-5-VAL-013"},
};

const Mutant takes_no_extension_headers{
    .name = "ipv6-extension-headers-lost",
    .what = "drops IPv6 packets that have extension headers",
    .breaks = {&rfc4391::ud_transport},
    .stack =
        [](Policy& policy) {
            policy.accepts_packet = [](const Packet& packet) {
                return !packet.ipv6 || !packet.icmpv6 || packet.icmpv6[Icmpv6::type] != Icmpv6Type::echo_request ||
                       packet.ipv6[Ipv6::next_header] == IpProtocol::icmpv6;
            };
        },
    .spares = {"IPOIB-4391-2-VAL-001", "IPOIB-4391-2-VAL-003", "IPOIB-4391-2-VAL-005", "IPOIB-4391-5-VAL-012",
               "IPOIB-4391-5-VAL-013"},
};

const Mutant keeps_reports_from_others{
    .name = "reports-for-first-interface",
    .what = "keeps reports of the subnet administrator from the interfaces beside the first one",
    .breaks = {&rfc4391::fallback_ends_with_group},
    .stack = [](Policy& policy) { policy.tells_all_of_reports = false; },
    .spares = {"IPOIB-4391-10-VAL-005"},
};

const Mutant grh_of_another_sender{
    .name = "grh-sgid",
    .what = "has a GRH in multicast that names another port of its subnet as the sender",
    .breaks = {&rfc4392::multicast_packet_headers},
    .stack =
        [](Policy& policy) {
            policy.on_send = [](build::PacketBuilder& packet) {
                const auto grh = packet.get<Grh>();
                constexpr std::uint64_t another = 0x0100;
                if (grh)
                    packet.set(Grh::sgid, Gid::of(grh[Grh::sgid].prefix(), grh[Grh::sgid].interface_id() ^ another));
            };
        },
    .sometimes = {&rfc4391::link_address_port_gid},
};

}  // namespace ipoib::conformance
