// SPDX-License-Identifier: GPL-2.0-or-later
// What kind of packet it is that a mutation has before it.
#pragma once

#include "traffic-gen/mutation.hpp"

#include "protocol/wire/mgid.hpp"

namespace ipoib::traffic {

inline bool is_multicast(const build::PacketBuilder& packet) {
    const auto grh = packet.get<wire::Grh>();
    return grh && grh[wire::Grh::dgid].is_multicast();
}
/// A datagram of IPoIB: neither management nor another program's.
inline bool is_ipoib(const build::PacketBuilder& packet) { return packet.has(wire::spec_of<wire::Encap>); }
/// One over UD.
inline bool is_ipoib_datagram(const build::PacketBuilder& packet) {
    return is_ipoib(packet) && packet.has(wire::spec_of<wire::Deth>);
}
template <class Header>
bool is_unicast_with(const build::PacketBuilder& packet) {
    return packet.has(wire::spec_of<Header>) && !is_multicast(packet);
}

/// A MAD of this method that holds such a record.
template <class Record>
bool is_mad_with(const build::PacketBuilder& packet, wire::Method method) {
    return packet.has(wire::spec_of<Record>) && packet.get<wire::Mad>()[wire::Mad::method] == method;
}
/// A request to join a group other than the broadcast group in this state, or the answer to it.
inline bool is_join_or_answer(const build::PacketBuilder& packet, std::uint8_t state) {
    using M = wire::McMemberRecord;
    const auto record = packet.get<M>();
    return record && record[M::join_state] == state && !is_broadcast_gid(record[M::mgid]) &&
           (is_mad_with<M>(packet, wire::Method::set) || is_mad_with<M>(packet, wire::Method::get_resp));
}
inline bool is_about_broadcast_group(const build::PacketBuilder& packet) {
    const auto record = packet.get<wire::McMemberRecord>();
    return record && is_broadcast_gid(record[wire::McMemberRecord::mgid]);
}

/// XORs the fields of all packets that have the header.
template <auto Field, auto Pattern>
void flip(build::PacketBuilder& packet) {
    using F = std::remove_cvref_t<decltype(*Field)>;
    if (const auto header = packet.get<typename F::header>())
        packet.set(*Field, static_cast<typename F::type>(header[*Field] ^ Pattern));
}

}  // namespace ipoib::traffic
