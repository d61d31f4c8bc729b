// SPDX-License-Identifier: GPL-2.0-or-later
// Wrong connections: what peers say of them, and what goes over them. RFC 4755.
#include "traffic-gen/mutations/kinds.hpp"

#include "protocol/build/connection.hpp"

#include <algorithm>

namespace ipoib::traffic {
using namespace wire;

namespace {

bool is_over_connection(const build::PacketBuilder& packet) {
    return is_ipoib(packet) && packet.has(spec_of<Bth>) && packet.get<Bth>()[Bth::opcode] == Opcode::rc_send_only;
}

/// Gives a field of the private data another value. RFC 4755, 6.
template <class Message, class T>
void set_private_data(build::PacketBuilder& packet, const Field<CmPrivateData, T>& field,
                      const std::type_identity_t<T>& value) {
    const auto message = packet.get<Message>();
    if (!message) return;
    auto octets = message[Message::private_data];
    set_field(MutableOctets{octets}, field, value);
    packet.set(Message::private_data, octets);
}

const Mutation no_qpn_in_req{
    .name = "cm-req-no-qpn",
    .what = "a REQ without its sender's UD QPN",
    .breaks = {&rfc4755::cm_setup_carries_ud_qpn, &rfc4755::cm_private_data_format},
    .profile = "connected",
    .change = [](build::PacketBuilder& packet) { set_private_data<CmReq>(packet, CmPrivateData::ud_qpn, 0); },
};

const Mutation no_qpn_in_rep{
    .name = "cm-rep-no-qpn",
    .what = "a REP without its sender's UD QPN",
    .breaks = {&rfc4755::cm_setup_carries_ud_qpn, &rfc4755::cm_private_data_format},
    .profile = "connected",
    .change = [](build::PacketBuilder& packet) { set_private_data<CmRep>(packet, CmPrivateData::ud_qpn, 0); },
};

const Mutation no_qpn_in_rej{
    .name = "cm-rej-no-qpn",
    .what = "a REJ without its sender's UD QPN",
    .breaks = {&rfc4755::cm_reject_carries_ud_qpn},
    .profile = "connected",
    .change = [](build::PacketBuilder& packet) { set_private_data<CmRej>(packet, CmPrivateData::ud_qpn, 0); },
};

const Mutation no_receive_mtu_in_rep{
    .name = "cm-rep-no-receive-mtu",
    .what = "a REP without a Receive MTU",
    .breaks = {&rfc4755::cm_minimum_mtu, &rfc4755::cm_private_data_format},
    .profile = "connected",
    .change = [](build::PacketBuilder& packet) { set_private_data<CmRep>(packet, CmPrivateData::receive_mtu, 0); },
};

const Mutation no_receive_mtu{
    .name = "cm-no-receive-mtu",
    .what = "a REQ without a Receive MTU",
    .breaks = {&rfc4755::cm_receive_mtu},
    .profile = "connected",
    .change = [](build::PacketBuilder& packet) { set_private_data<CmReq>(packet, CmPrivateData::receive_mtu, 0); },
};

const Mutation swapped_receive_mtu{
    .name = "cm-receive-mtu-order",
    .what = "a Receive MTU of 65524 in the order of a little-endian host",
    .breaks = {&rfc4755::cm_private_data_format},
    .profile = "connected",
    .change =
        [](build::PacketBuilder& packet) { set_private_data<CmReq>(packet, CmPrivateData::receive_mtu, 0xf4ff0000); },
};

const Mutation reserved_private_data{
    .name = "cm-reserved",
    .what = "a Reserved bit of 1 in the private data of a REQ and a REP",
    .breaks = {&rfc4755::cm_private_data_reserved_tx},
    .profile = "connected",
    .change =
        [](build::PacketBuilder& packet) {
            set_private_data<CmReq>(packet, CmPrivateData::reserved, 0x80);
            set_private_data<CmRep>(packet, CmPrivateData::reserved, 0x80);
        },
};

const Mutation service_id{
    .name = "cm-service-id",
    .what = "a Service-ID that begins with 0x10, as Linux writes it",
    .breaks = {&rfc4755::cm_service_id},
    .profile = "connected",
    .change =
        [](build::PacketBuilder& packet) {
            constexpr unsigned upper_octet = 56;
            if (const auto req = packet.get<CmReq>())
                packet.set(CmReq::service_id, std::uint64_t{0x10} << upper_octet | (req[CmReq::service_id] & 0xffffff));
        },
};

const Mutation flags_without_service{
    .name = "cm-flags-no-service",
    .what = "a host that announces connected mode rejects a connection as of no service",
    .breaks = {&rfc4755::ud_only_sends_no_flags},
    .profile = "connected",
    .change =
        [](build::PacketBuilder& packet) {
            constexpr std::uint16_t invalid_service_id = 8;
            if (packet.has(spec_of<CmRej>)) packet.set(CmRej::reason, invalid_service_id);
        },
    .unproven = {&rfc4755::ud_only_sends_no_flags},
};

const Mutation ud_queue_pair_in_req{
    .name = "cm-req-ud-queue-pair",
    .what = "a REQ whose connection is to use the sender's UD queue pair",
    .breaks = {&rfc4755::cm_queue_pairs},
    .profile = "connected",
    .change =
        [](build::PacketBuilder& packet) {
            const auto req = packet.get<CmReq>();
            if (const auto data = ipoib_private_data(req)) packet.set(CmReq::local_qpn, data[CmPrivateData::ud_qpn]);
        },
};

const Mutation larger_than_receive_mtu{
    .name = "cm-larger-than-receive-mtu",
    .what = "packets over a connection that are larger than both sides have said to take",
    .breaks = {&rfc4755::cm_default_mtu},
    .profile = "connected",
    .change =
        [](build::PacketBuilder& packet) {
            constexpr std::uint32_t usual = 2048, size = 3000;
            set_private_data<CmReq>(packet, CmPrivateData::receive_mtu, usual);
            set_private_data<CmRep>(packet, CmPrivateData::receive_mtu, usual);
            if (!is_over_connection(packet) || !packet.has(spec_of<Icmp>)) return;
            packet.add(std::vector<std::uint8_t>(size));
        },
};

const Mutation multicast_over_connection{
    .name = "cm-multicast",
    .what = "packets for an IPv4 group over a connection",
    .breaks = {&rfc4755::cm_multicast_on_ud},
    .profile = "connected",
    .change =
        [](build::PacketBuilder& packet) {
            if (is_over_connection(packet) && packet.has(spec_of<Ipv4>)) packet.set(Ipv4::destination, 0xefc00001);
        },
};

const Mutation type_over_connection{
    .name = "cm-encap-type",
    .what = "IPv4 under a Type of nothing over a connection",
    .breaks = {&rfc4391::encap_type, &rfc4755::cm_encap_type},
    .profile = "connected",
    .change =
        [](build::PacketBuilder& packet) {
            if (is_over_connection(packet)) packet.set(Encap::type, EtherType{0x0004});
        },
};

const Mutation reply_over_connection{
    .name = "cm-arp-reply",
    .what = "ARP replies over a connection",
    .breaks = {&rfc4755::cm_encap_type, &rfc4755::cm_resolution_over_ud},
    .profile = "connected",
    .change =
        [](build::PacketBuilder& packet) {
            constexpr std::uint32_t connected_qpn = 0x800000;
            if (packet.has(spec_of<Arp>) && packet.get<Arp>()[Arp::operation] == Arp::reply)
                packet = build::over_connection(std::move(packet), connected_qpn, 0);
        },
};

}  // namespace
}  // namespace ipoib::traffic
