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
    .twin = Twin{},
};

const Mutant hca_takes_any_p_key{
    .name = "hca-any-pkey",
    .what = "the HCA takes packets of any partition",
    .breaks = {&rfc4391::ud_same_partition_and_qkey, &rfc4391::pkey_match},
    .hca = [](HcaBehaviour& hca) { hca.discards_wrong_p_key = false; },
};

}  // namespace ipoib::conformance
