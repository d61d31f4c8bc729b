// SPDX-License-Identifier: GPL-2.0-or-later
// Frames from elsewhere.
#include "conformance/fuzz/scene.hpp"

#include "protocol/wire/packet.hpp"

namespace ipoib::conformance::fuzz {
using namespace wire;

namespace {

constexpr std::uint32_t smi = 0, gsi = 1, multicast_qp = 0xffffff, psn_mask = 0xffffff, first_ip_group = 0xe0000000;

bool is_group(std::uint32_t ipv4) { return ipv4 >= first_ip_group; }

void fit_transport(build::PacketBuilder& packet, Scene& scene, View<Bth> bth) {
    const auto qp = bth[Bth::dest_qp];
    packet.choose(Bth::p_key, scene.link.p_key);
    const bool is_datagram = packet.has(spec_of<Deth>);
    if (!is_datagram) {
        auto& connection = scene.requested ? scene.requested : scene.accepted;
        if (!connection) return;
        packet.choose(Bth::dest_qp, connection->dut.qpn).choose(Bth::psn, next_psn(*connection));
        return;
    }
    if (qp == smi || qp == gsi) return;
    if (qp != multicast_qp) packet.choose(Bth::dest_qp, scene.dut.qpn);
    packet.choose(Deth::q_key, scene.link.q_key).choose(Deth::src_qp, scene.self.qpn);
}

void fit_network(build::PacketBuilder& packet, const Scene& scene) {
    if (const auto ip = packet.get<Ipv4>()) {
        if (!is_group(ip[Ipv4::destination])) packet.choose(Ipv4::destination, scene.dut.ipv4);
        packet.choose(Ipv4::source, scene.self.ipv4);
    }
    if (const auto ip = packet.get<Ipv6>()) {
        if (!ip[Ipv6::destination].is_multicast()) packet.choose(Ipv6::destination, scene.dut.ipv6);
        packet.choose(Ipv6::source, scene.self.ipv6);
    }
    if (packet.has(spec_of<ArpAddresses>))
        packet.choose(ArpAddresses::tpa, scene.dut.ipv4)
            .choose(ArpAddresses::spa, scene.self.ipv4)
            .choose(ArpAddresses::sha_gid, scene.self.gid)
            .choose(ArpAddresses::sha_qpn, scene.self.qpn);
}

}  // namespace

std::uint32_t next_psn(Connection& connection) { return (connection.dut.psn + connection.sent++) & psn_mask; }

build::PacketBuilder made_to_fit(Scene& scene, Octets frame) {
    Packet decoded;
    decode(frame, decoded);
    auto packet = build::PacketBuilder::of(decoded);
    if (!decoded.lrh) return packet;
    packet.choose(Lrh::slid, scene.self.lid);
    const bool is_to_group = decoded.grh && decoded.grh[Grh::dgid].is_multicast();
    if (is_to_group)
        packet.choose(Lrh::dlid, scene.link.broadcast_mlid).choose(Grh::dgid, scene.link.broadcast_gid());
    else
        packet.choose(Lrh::dlid, scene.dut.lid);
    if (decoded.grh) {
        packet.choose(Grh::sgid, scene.self.gid);
        if (!is_to_group) packet.choose(Grh::dgid, scene.dut.gid);
    }
    if (decoded.bth) fit_transport(packet, scene, decoded.bth);
    fit_network(packet, scene);
    return packet;
}

}  // namespace ipoib::conformance::fuzz
