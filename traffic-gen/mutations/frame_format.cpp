// SPDX-License-Identifier: GPL-2.0-or-later
// Wrong frames. RFC 4391, 6 and 9.1; UD multicast.
#include "traffic-gen/mutation.hpp"

namespace ipoib::traffic {
using namespace wire;

namespace {

bool is_multicast(const build::PacketBuilder& packet) {
    const auto grh = packet.get<Grh>();
    return grh && grh[Grh::dgid].is_multicast();
}

const Mutation reserved_not_zero{
    .name = "reserved-not-zero",
    .what = "a Reserved bit of the encapsulation header is 1",
    .breaks = {&rfc4391::encap_reserved_tx},
    .profile = "ping4",
    .change = [](build::PacketBuilder& packet) { packet.set(Encap::reserved, 0x0100); },
};

const Mutation no_grh{
    .name = "no-grh",
    .what = "multicast without a GRH",
    .breaks = {&rfc4391::grh_on_multicast, &udmc::grh_on_every_multicast},
    .profile = "udp-multicast",
    .change =
        [](build::PacketBuilder& packet) {
            if (is_multicast(packet)) packet.remove<Grh>();
        },
};

const Mutation wrong_q_key{
    .name = "wrong-q-key",
    .what = "another Q_Key than the broadcast group's",
    .breaks = {&rfc4391::qkey_of_broadcast_group, &rfc4391::ud_same_partition_and_qkey,
               &rfc4391::adopts_broadcast_parameters, &rfc4392::controlled_qkey_from_qp},
    .profile = "ping4",
    .change =
        [](build::PacketBuilder& packet) {
            packet.set(Deth::q_key, (packet.get<Deth>()[Deth::q_key] & 0x80000000) | 0x4321);
        },
};

const Mutation wrong_destination_qp{
    .name = "multicast-dest-qp",
    .what = "multicast to a queue pair of its own instead of 0xffffff",
    .breaks = {&udmc::multicast_destqp},
    .profile = "udp-multicast",
    .change =
        [](build::PacketBuilder& packet) {
            if (is_multicast(packet)) packet.set(Bth::dest_qp, 0x42);
        },
};

const Mutation wrong_mlid{
    .name = "wrong-mlid",
    .what = "multicast to the MLID of another group",
    .breaks = {&udmc::multicast_destination},
    .profile = "udp-multicast",
    .change =
        [](build::PacketBuilder& packet) {
            if (is_multicast(packet)) packet.set(Lrh::dlid, packet.get<Lrh>()[Lrh::dlid] + 0x0100);
        },
};

const Mutation wrong_sl{
    .name = "wrong-sl",
    .what = "multicast with another SL than the broadcast group's",
    .breaks = {&rfc4391::sl_of_broadcast_group, &rfc4391::adopts_broadcast_parameters},
    .profile = "udp-multicast",
    .change =
        [](build::PacketBuilder& packet) {
            if (is_multicast(packet)) packet.set(Lrh::sl, packet.get<Lrh>()[Lrh::sl] ^ 0xf);
        },
};

/// Changes a field of the GRH of multicast.
template <auto Field, auto Pattern>
void change_grh(build::PacketBuilder& packet) {
    if (is_multicast(packet)) packet.set(*Field, packet.get<Grh>()[*Field] ^ Pattern);
}

const Mutation wrong_traffic_class{
    .name = "wrong-tclass",
    .what = "multicast with another TClass than the broadcast group's",
    .breaks = {&rfc4391::multicast_parameters_of_group},
    .profile = "arp",
    .change = change_grh<&Grh::traffic_class, 0x01>,
};

const Mutation wrong_flow_label{
    .name = "wrong-flow-label",
    .what = "multicast with another FlowLabel than the broadcast group's",
    .breaks = {&rfc4391::multicast_parameters_of_group},
    .profile = "arp",
    .change = change_grh<&Grh::flow_label, 0x00001>,
};

const Mutation wrong_hop_limit{
    .name = "wrong-hop-limit",
    .what = "multicast with another HopLimit than the broadcast group's",
    .breaks = {&rfc4391::multicast_parameters_of_group},
    .profile = "arp",
    .change = change_grh<&Grh::hop_limit, 0x80>,
};

const Mutation wrong_type{
    .name = "encap-type",
    .what = "IPv4 under the Type of IPv6",
    .breaks = {&rfc4391::encap_type},
    .profile = "ping4",
    .change = [](build::PacketBuilder& packet) { packet.set(Encap::type, EtherType::ipv6); },
};

const Mutation beyond_mtu{
    .name = "beyond-mtu",
    .what = "2048 octets more than the payload that was asked for",
    .breaks = {&rfc4391::frame_within_link_mtu},
    .profile = "udp",
    .change =
        [](build::PacketBuilder& packet) {
            constexpr std::size_t more = 2048;
            if (packet.has(spec_of<Udp>)) packet.add(std::vector<std::uint8_t>(more));
        },
};

}  // namespace
}  // namespace ipoib::traffic
