// SPDX-License-Identifier: GPL-2.0-or-later
// From datagrams to InfiniBand packets.
#include "stack/framing.hpp"

#include "stack/interface.hpp"

namespace ipoib::stack {
using namespace wire;
using build::PacketBuilder;

namespace {

/// RFC 4391, 6: the encapsulation header before every datagram.
void encapsulate(Interface& interface, PacketBuilder& packet, EtherType protocol, Octets datagram) {
    const auto& policy = interface.policy(family_of(protocol));
    packet.set(Encap::type, policy.encap_type(protocol)).set(Encap::reserved, policy.encap_reserved);
    packet.add(datagram);
}

}  // namespace

/// RFC 4392, 4.2: DLID is the MLID, DGID the MGID, DestQP all ones; the group's parameters in the GRH.
void send_multicast(Interface& interface, const Group& group, EtherType protocol, Octets datagram) {
    const auto& policy = interface.policy(family_of(protocol));
    const auto& link = interface.link();
    build::Link parameters = link;
    parameters.q_key = policy.multicast_q_key(link, group);
    parameters.sl = policy.multicast_sl(link, group);
    parameters.traffic_class = policy.multicast_traffic_class(link, group);
    parameters.flow_label = policy.multicast_flow_label(link, group);
    parameters.hop_limit = policy.multicast_hop_limit(link, group);
    auto packet = build::multicast(interface.self(), group.mgid, policy.multicast_dlid(link, group), parameters);
    packet.set(Bth::dest_qp, policy.multicast_dest_qp);
    if (!policy.grh_on_multicast) packet.remove<Grh>();
    encapsulate(interface, packet, protocol, datagram);
    interface.transmit(packet);
}

/// RFC 4391, 9.1: LID and SL of the path, QPN of the link-layer address, Q_Key and P_Key of the link. Only packets that
/// leave the IB subnet need a GRH.
PacketBuilder unicast_packet(Interface& interface, const Peer& peer, const Path& path, EtherType protocol,
                             Octets datagram) {
    const auto& policy = interface.policy(family_of(protocol));
    const auto& link = interface.link();
    const bool is_in_subnet = peer.gid.prefix() == interface.port().gid.prefix();
    build::Link parameters = link;
    parameters.q_key = policy.unicast_q_key(link);
    parameters.p_key = policy.unicast_p_key(link);
    parameters.sl = policy.unicast_sl(link, path.sl);
    if (!is_in_subnet) {
        parameters.traffic_class = policy.uses_flow_of_path ? path.traffic_class : std::uint8_t{0};
        parameters.flow_label = policy.uses_flow_of_path ? path.flow_label : 0;
        parameters.hop_limit = policy.unicast_hop_limit(link, path.hop_limit);
    }
    const build::Node to{.lid = policy.unicast_dlid(path.lid), .gid = peer.gid, .qpn = peer.qpn};
    const auto self = interface.self();
    const bool has_grh = is_in_subnet ? policy.grh_on_unicast : policy.grh_across_subnets;
    auto packet = has_grh ? build::unicast_with_grh(self, to, parameters) : build::unicast(self, to, parameters);
    encapsulate(interface, packet, protocol, datagram);
    return packet;
}

void send_unicast(Interface& interface, const Peer& peer, const Path& path, EtherType protocol, Octets datagram) {
    auto packet = unicast_packet(interface, peer, path, protocol, datagram);
    interface.transmit(packet);
}

}  // namespace ipoib::stack
