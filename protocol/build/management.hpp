// SPDX-License-Identifier: GPL-2.0-or-later
// Management packets as tests, samples and stories want them: what a port says to the SA and the SM.
#pragma once

#include "protocol/build/ipoib.hpp"
#include "protocol/wire/inform_info.hpp"
#include "protocol/wire/notice.hpp"
#include "protocol/wire/path_record.hpp"
#include "protocol/wire/port_info.hpp"
#include "protocol/wire/smp.hpp"

#include <array>
#include <span>

namespace ipoib::build {

/// A MAD of any class from QP1 to QP1 (QP0 to QP0 for subnet management), with its common header.
[[nodiscard]] PacketBuilder mad(const Node& from, const Node& to, wire::MgmtClass mgmt_class, wire::Method method,
                                std::uint16_t attribute, std::uint64_t transaction);

/// What is left of a MAD behind the octets that were put into it.
PacketBuilder& fill_mad(PacketBuilder& packet, std::size_t used);

/// A question or an answer of subnet administration with one record. IBTA Vol 1, 15.2.1.
template <class Record>
[[nodiscard]] PacketBuilder administration(const Node& from, const Node& to, wire::Method method,
                                           std::uint16_t attribute, std::uint64_t transaction,
                                           const wire::Bytes<Record>& record, std::uint64_t components = 0) {
    auto packet = mad(from, to, wire::MgmtClass::subn_adm, method, attribute, transaction);
    packet.add(wire::Bytes<wire::Rmpp>{})
        .add(wire::Bytes<wire::SaHeader>{}.set(wire::SaHeader::component_mask, components))
        .add(record);
    return fill_mad(packet, wire::SaHeader::data_offset + Record::size);
}
/// The RMPP and SA headers of a table of records, each this many octets from the next, that fits in one segment.
/// Throws std::logic_error where it does not.
[[nodiscard]] PacketBuilder table_head(const Node& from, const Node& to, wire::Method method, std::uint16_t attribute,
                                       std::uint64_t transaction, std::size_t records, std::size_t stride);
/// All of an answer with several records, in one segment. IBTA Vol 1, 13.6 and 15.2.2.
template <class Record>
[[nodiscard]] PacketBuilder table(const Node& from, const Node& to, wire::Method method, std::uint16_t attribute,
                                  std::uint64_t transaction, std::span<const wire::Bytes<Record>> records) {
    constexpr std::size_t unit = wire::SaHeader::offset_unit, stride = (Record::size + unit - 1) / unit * unit;
    auto packet = table_head(from, to, method, attribute, transaction, records.size(), stride);
    for (const auto& record : records) {
        packet.add(record);
        if constexpr (stride != Record::size) packet.add(std::array<std::uint8_t, stride - Record::size>{});
    }
    return fill_mad(packet, wire::SaHeader::data_offset + records.size() * stride);
}
/// Of a table in one segment, by the one who asked with this method.
[[nodiscard]] PacketBuilder table_acknowledgement(const Node& from, const Node& to, wire::Method method,
                                                  std::uint16_t attribute, std::uint64_t transaction);

/// The record of any group of a link, one member's; what the broadcast group has, but for these.
[[nodiscard]] wire::Bytes<wire::McMemberRecord> group_record(const Node& member, const Link& link,
                                                             const wire::Gid& mgid, std::uint16_t mlid,
                                                             std::uint8_t join_state);

/// InformInfo: a subscription to one trap for one group, or all with a zero GID.
[[nodiscard]] PacketBuilder subscription(const Node& from, const Node& to, wire::Method method,
                                         std::uint64_t transaction, std::uint16_t trap, const wire::Gid& group = {});
/// The SA's report of trap 66 or 67.
[[nodiscard]] PacketBuilder group_report(const Node& from, const Node& to, std::uint16_t trap, const wire::Gid& group);
/// All groups' records: asked for by GetTable, answered in one segment, which holds three of them at most, and
/// acknowledged. IBTA Vol 1, 13.6 and 15.2.5.17.
[[nodiscard]] PacketBuilder group_table_request(const Node& from, const Node& to, std::uint64_t transaction);
[[nodiscard]] PacketBuilder group_table(const Node& from, const Node& to, std::uint64_t transaction,
                                        std::span<const wire::Bytes<wire::McMemberRecord>> records);
[[nodiscard]] PacketBuilder group_table_acknowledgement(const Node& from, const Node& to, std::uint64_t transaction);
/// PathRecord from one node to another, asked for or answered.
[[nodiscard]] PacketBuilder path_record(const Node& from, const Node& to, wire::Method method,
                                        std::uint64_t transaction, const Node& source, const Node& destination,
                                        std::uint8_t sl, std::uint8_t rate);

/// What an SMP is about. IBTA Vol 1, 14.2.1.
struct SmpHead {
    wire::Method method{};
    std::uint16_t attribute = 0;
    std::uint64_t transaction = 1;
    std::uint32_t modifier = 0;
};
/// What an SMP has before its attribute and behind it: LID-routed; or by a directed route, as it is seen at the
/// manager's port. The route is that of the question, by the number of the port out of each node. IBTA Vol 1, 14.2.
[[nodiscard]] PacketBuilder smp_before(const Node& from, const Node& to, const SmpHead& head);
[[nodiscard]] PacketBuilder smp_before(const SmpHead& head, std::span<const std::uint8_t> route);
[[nodiscard]] std::array<std::uint8_t, 128> smp_behind(const SmpHead& head, std::span<const std::uint8_t> route);
/// A whole SMP of either kind. An attribute has 64 octets at most; what is behind a shorter one is zero.
template <class Attribute>
using SmpPadding = std::array<std::uint8_t, wire::LidSmp::data.width / 8 - sizeof(Attribute)>;
template <class Attribute>
[[nodiscard]] PacketBuilder smp(const Node& from, const Node& to, const SmpHead& head, const Attribute& attribute) {
    return smp_before(from, to, head).add(attribute).add(SmpPadding<Attribute>{}).add(smp_behind(head, {}));
}
template <class Attribute>
[[nodiscard]] PacketBuilder smp(const SmpHead& head, std::span<const std::uint8_t> route, const Attribute& attribute) {
    return smp_before(head, route).add(attribute).add(SmpPadding<Attribute>{}).add(smp_behind(head, route));
}

/// PortInfo of a port, LID-routed: what the SM sets, or a port answers.
[[nodiscard]] PacketBuilder port_info(const Node& from, const Node& to, wire::Method method,
                                      const wire::Bytes<wire::PortInfo>& info);

/// The first block of a port's P_KeyTable, LID-routed: asked for, or answered; and a block as the attribute holds it.
/// IBTA Vol 1, 14.2.5.7.
[[nodiscard]] PacketBuilder p_key_table(const Node& from, const Node& to, wire::Method method,
                                        std::span<const std::uint16_t> p_keys);
[[nodiscard]] wire::OctetArray<64> p_key_block(std::span<const std::uint16_t> p_keys);

/// An IGMPv2 report or leave. RFC 2236, 2.
[[nodiscard]] PacketBuilder igmp(const Node& from, std::uint8_t type, std::uint32_t group, std::uint16_t mlid,
                                 const Link& link);
/// A RIP response without routes in the broadcast group: its sender forwards IP. RFC 1058, 3.1.
[[nodiscard]] PacketBuilder rip(const Node& router, const Link& link);
/// An MLDv2 report of one record without sources, with the Router Alert option. It goes to all MLDv2 routers, whose
/// group has this MLID. RFC 3810, 5.2; RFC 2711.
[[nodiscard]] PacketBuilder mld_report(const Node& from, std::uint8_t record_type, const wire::Gid& group,
                                       std::uint16_t mlid, const Link& link);
/// ff02::16. RFC 3810, 5.2.14.
[[nodiscard]] constexpr wire::Gid all_mldv2_routers() noexcept { return wire::Gid::of(0xff02ull << 48, 0x16); }

}  // namespace ipoib::build
