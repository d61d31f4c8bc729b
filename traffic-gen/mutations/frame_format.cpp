// SPDX-License-Identifier: GPL-2.0-or-later
// Wrong frames. RFC 4391, 2, 6, 9.1 and 13; UD multicast.
#include "traffic-gen/mutations/kinds.hpp"

#include "protocol/build/headers.hpp"

namespace ipoib::traffic {
using namespace wire;

namespace {

const Mutation reserved_not_zero{
    .name = "reserved-not-zero",
    .what = "a Reserved bit of the encapsulation header is 1",
    .breaks = {&rfc4391::encap_reserved_tx},
    .profile = "ping4",
    .change =
        [](build::PacketBuilder& packet) {
            if (is_ipoib(packet)) packet.set(Encap::reserved, 0x0100);
        },
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
            if (is_ipoib_datagram(packet))
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
    .change =
        [](build::PacketBuilder& packet) {
            if (packet.has(spec_of<Ipv4>) && is_ipoib(packet)) packet.set(Encap::type, EtherType::ipv6);
        },
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

const Mutation uncontrolled_q_key{
    .name = "uncontrolled-q-key",
    .what = "the broadcast group's Q_Key without its high bit",
    .breaks = {&rfc4391::controlled_qkey_in_all_packets, &rfc4391::qkey_of_broadcast_group,
               &rfc4391::ud_same_partition_and_qkey, &rfc4391::adopts_broadcast_parameters},
    .profile = "ping4",
    .change =
        [](build::PacketBuilder& packet) {
            if (is_ipoib_datagram(packet)) packet.set(Deth::q_key, packet.get<Deth>()[Deth::q_key] & 0x7fffffff);
        },
};

const Mutation not_send_only{
    .name = "ud-opcode",
    .what = "an operation of UD that does not exist: SEND First",
    .breaks = {&rfc4391::ud_transport},
    .profile = "ping4",
    .change =
        [](build::PacketBuilder& packet) {
            if (is_ipoib_datagram(packet))
                packet.set(Bth::opcode, opcode_of(TransportService::unreliable_datagram, Operation::send_first));
        },
};

const Mutation swapped_type{
    .name = "type-byte-order",
    .what = "the Type in the order of a little-endian host",
    .breaks = {&rfc4391::network_byte_order, &rfc4391::encap_type},
    .profile = "ping4",
    .change =
        [](build::PacketBuilder& packet) {
            if (is_ipoib(packet)) packet.set(Encap::type, EtherType{0x0008});
        },
};

const Mutation draft_header{
    .name = "encap-2-octets",
    .what = "an encapsulation header of the Type alone, as in drafts before RFC 4391",
    .breaks = {&rfc4391::encap_header},
    .profile = "arp",
    .change =
        [](build::PacketBuilder& packet) {
            if (!packet.has(spec_of<Arp>)) return;
            build::PacketBuilder draft;
            build::append_headers<Lrh, Grh, Bth, Deth>(draft, packet);
            draft.add(std::array{std::uint8_t{0x08}, std::uint8_t{0x06}});
            packet = build::append_headers<Arp, ArpAddresses>(draft, packet);
        },
};

}  // namespace
}  // namespace ipoib::traffic
