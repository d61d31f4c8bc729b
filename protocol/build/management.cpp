// SPDX-License-Identifier: GPL-2.0-or-later
// Management packets by their purpose.
#include "protocol/build/management.hpp"

#include "protocol/wire/igmp.hpp"
#include "protocol/wire/mld.hpp"

#include <algorithm>
#include <stdexcept>

namespace ipoib::build {
using namespace wire;

namespace {

Bytes<Rmpp> rmpp(RmppType type) {
    Bytes<Rmpp> header;
    return header.set(Rmpp::version, 1)
        .set(Rmpp::type, type)
        .set(Rmpp::resp_time, Rmpp::no_response_time)
        .set(Rmpp::active, true);
}

/// Octets of an LID-routed SMP before its attribute. IBTA Vol 1, 14.2.1.1.
constexpr std::size_t smp_head = LidSmp::data.at.bit / 8;

}  // namespace

PacketBuilder& fill_mad(PacketBuilder& packet, std::size_t used) {
    return packet.add(std::vector<std::uint8_t>(mad_size - used));
}

PacketBuilder mad(const Node& from, const Node& to, MgmtClass mgmt_class, Method method, std::uint16_t attribute,
                  std::uint64_t transaction) {
    constexpr std::uint32_t management_q_key = 0x80010000;
    const bool is_subnet_management = mgmt_class == MgmtClass::subn_lid_routed;
    const bool is_second_version = mgmt_class == MgmtClass::subn_adm || mgmt_class == MgmtClass::communication;
    const std::uint32_t qp = is_subnet_management ? 0 : 1;
    PacketBuilder packet;
    packet.add(Bytes<Lrh>{}.set(Lrh::dlid, to.lid).set(Lrh::slid, from.lid));
    packet.add(Bytes<Bth>{}
                   .set(Bth::opcode, Opcode::ud_send_only)
                   .set(Bth::migration, true)
                   .set(Bth::p_key, 0xffff)
                   .set(Bth::dest_qp, qp));
    packet.add(Bytes<Deth>{}.set(Deth::q_key, is_subnet_management ? 0 : management_q_key).set(Deth::src_qp, qp));
    return packet.add(Bytes<Mad>{}
                          .set(Mad::base_version, 1)
                          .set(Mad::mgmt_class, mgmt_class)
                          .set(Mad::class_version, is_second_version ? 2 : 1)
                          .set(Mad::method, method)
                          .set(Mad::transaction_id, transaction)
                          .set(Mad::attribute_id, attribute));
}

Bytes<McMemberRecord> group_record(const Node& member, const Link& link, const Gid& mgid, std::uint16_t mlid,
                                   std::uint8_t join_state) {
    auto record = broadcast_record(member, link);
    return record.set(McMemberRecord::mgid, mgid)
        .set(McMemberRecord::mlid, mlid)
        .set(McMemberRecord::join_state, join_state);
}

PacketBuilder subscription(const Node& from, const Node& to, Method method, std::uint64_t transaction,
                           std::uint16_t trap, const Gid& group) {
    Bytes<InformInfo> info;
    info.set(InformInfo::gid, group)
        .set(InformInfo::lid_range_begin, 0xffff)
        .set(InformInfo::is_generic, 1)
        .set(InformInfo::subscribe, 1)
        .set(InformInfo::type, notice_type_of_subnet_management)
        .set(InformInfo::trap_number, trap)
        .set(InformInfo::qpn, 1)
        .set(InformInfo::producer_type, producer_class_manager);
    return administration(from, to, method, attribute::inform_info, transaction, info);
}

PacketBuilder group_report(const Node& from, const Node& to, std::uint16_t trap, const Gid& group) {
    return administration(from, to, Method::report, attribute::notice, 0,
                          notice_of_gid(trap, group, from.lid, from.gid));
}

PacketBuilder table_head(const Node& from, const Node& to, Method method, std::uint16_t attribute,
                         std::uint64_t transaction, std::size_t records, std::size_t stride) {
    if (records * stride > SaHeader::data_size) throw std::logic_error("the table has more than one segment");
    const auto length = SaHeader::size + records * stride;
    auto packet = mad(from, to, MgmtClass::subn_adm, method, attribute, transaction);
    return packet
        .add(rmpp(RmppType::data)
                 .set(Rmpp::first, true)
                 .set(Rmpp::last, true)
                 .set(Rmpp::segment_number, 1)
                 .set(Rmpp::payload_length, static_cast<std::uint32_t>(length)))
        .add(Bytes<SaHeader>{}.set(SaHeader::attribute_offset,
                                   static_cast<std::uint16_t>(stride / SaHeader::offset_unit)));
}

PacketBuilder table_acknowledgement(const Node& from, const Node& to, Method method, std::uint16_t attribute,
                                    std::uint64_t transaction) {
    constexpr std::uint32_t all = 1;
    auto packet = mad(from, to, MgmtClass::subn_adm, method, attribute, transaction);
    packet.add(rmpp(RmppType::ack).set(Rmpp::segment_number, all).set(Rmpp::payload_length, all)).add<SaHeader>();
    return fill_mad(packet, SaHeader::data_offset);
}

PacketBuilder group_table_request(const Node& from, const Node& to, std::uint64_t transaction) {
    return administration(from, to, Method::get_table, attribute::mc_member_record, transaction,
                          Bytes<McMemberRecord>{});
}

PacketBuilder group_table(const Node& from, const Node& to, std::uint64_t transaction,
                          std::span<const Bytes<McMemberRecord>> records) {
    return table(from, to, Method::get_table_resp, attribute::mc_member_record, transaction, records);
}

PacketBuilder group_table_acknowledgement(const Node& from, const Node& to, std::uint64_t transaction) {
    return table_acknowledgement(from, to, Method::get_table, attribute::mc_member_record, transaction);
}

PacketBuilder path_record(const Node& from, const Node& to, Method method, std::uint64_t transaction,
                          const Node& source, const Node& destination, std::uint8_t sl, std::uint8_t rate) {
    Bytes<PathRecord> path;
    path.set(PathRecord::dgid, destination.gid)
        .set(PathRecord::sgid, source.gid)
        .set(PathRecord::number_of_paths, 1)
        .set(PathRecord::p_key, 0xffff);
    if (is_response(method))
        path.set(PathRecord::dlid, destination.lid)
            .set(PathRecord::slid, source.lid)
            .set(PathRecord::sl, sl)
            .set(PathRecord::mtu, 4)
            .set(PathRecord::rate, rate);
    return administration(from, to, method, attribute::path_record, transaction, path, 0xc);
}

PacketBuilder smp_before(const Node& from, const Node& to, const SmpHead& head) {
    auto packet = mad(from, to, MgmtClass::subn_lid_routed, head.method, head.attribute, head.transaction);
    return packet.choose(Mad::attribute_modifier, head.modifier).add(std::vector<std::uint8_t>(smp_head - Mad::size));
}

PacketBuilder smp_before(const SmpHead& head, std::span<const std::uint8_t> route) {
    constexpr std::uint16_t returning = 0x8000, at_the_manager = 1 << 8;
    constexpr std::size_t m_key = 8, both_permissive = 4;
    const Node any{.lid = DirectedSmp::permissive_lid};
    auto packet = mad(any, any, MgmtClass::subn_lid_routed, head.method, head.attribute, head.transaction);
    packet.choose(Mad::mgmt_class, MgmtClass::subn_directed_route)
        .choose(Mad::status, is_response(head.method) ? returning : std::uint16_t{0})
        .choose(Mad::class_specific, static_cast<std::uint16_t>(at_the_manager | route.size()))
        .choose(Mad::attribute_modifier, head.modifier);
    std::vector<std::uint8_t> rest(smp_head - Mad::size);
    std::fill_n(rest.begin() + m_key, both_permissive, std::uint8_t{0xff});
    return packet.add(rest);
}

std::array<std::uint8_t, 128> smp_behind(const SmpHead& head, std::span<const std::uint8_t> route) {
    std::array<std::uint8_t, 128> paths{};
    const auto hops = std::min<std::size_t>(route.size(), DirectedSmp::max_hops);
    // The first octet of each path is not used; every node came in by its first port.
    std::copy_n(route.begin(), hops, paths.begin() + 1);
    if (is_response(head.method)) std::fill_n(paths.begin() + paths.size() / 2 + 1, hops, std::uint8_t{1});
    return paths;
}

PacketBuilder port_info(const Node& from, const Node& to, Method method, const Bytes<PortInfo>& info) {
    return smp(from, to, {.method = method, .attribute = smp_attribute::port_info}, info);
}

OctetArray<64> p_key_block(std::span<const std::uint16_t> p_keys) {
    OctetArray<64> block{};
    for (std::size_t i = 0; i < std::min(p_keys.size(), block.size() / 2); ++i)
        write_bits(block.data() + 2 * i, octet(0), 16, p_keys[i]);
    return block;
}

PacketBuilder p_key_table(const Node& from, const Node& to, Method method, std::span<const std::uint16_t> p_keys) {
    return smp(from, to, {.method = method, .attribute = smp_attribute::p_key_table}, p_key_block(p_keys));
}

PacketBuilder rip(const Node& router, const Link& link) {
    constexpr std::uint16_t port = 520;
    constexpr std::array<std::uint8_t, 4> response{2, 1, 0, 0};
    auto packet = broadcast(router, link);
    packet.add(Bytes<Ipv4>{}
                   .set(Ipv4::source, router.ipv4)
                   .set(Ipv4::destination, 0xffffffff)
                   .set(Ipv4::protocol, IpProtocol::udp));
    return packet.add(Bytes<Udp>{}.set(Udp::source, port).set(Udp::destination, port)).add(response);
}

PacketBuilder igmp(const Node& from, std::uint8_t type, std::uint32_t group, std::uint16_t mlid, const Link& link) {
    Bytes<Igmp> message;
    message.set(Igmp::type, type).set(Igmp::group, group);
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < Igmp::size; i += 2)
        sum += static_cast<std::uint32_t>(message.octets[i] << 8 | message.octets[i + 1]);
    message.set(Igmp::checksum, static_cast<std::uint16_t>(~(sum + (sum >> 16))));
    const auto to = type == igmp_type::leave ? 0xe0000002 : group;
    auto packet = multicast(from, mgid_for_ipv4(to, link.p_key, link.scope), mlid, link);
    packet.add(Bytes<Ipv4>{}
                   .set(Ipv4::source, from.ipv4)
                   .set(Ipv4::destination, to)
                   .set(Ipv4::protocol, IpProtocol::igmp)
                   .set(Ipv4::ttl, 1));
    return packet.add(message.octets);
}

PacketBuilder mld_report(const Node& from, std::uint8_t record_type, const Gid& group, std::uint16_t mlid,
                         const Link& link) {
    constexpr std::uint8_t router_alert = 5, pad_n = 1;
    constexpr auto icmpv6 = static_cast<std::uint8_t>(IpProtocol::icmpv6);
    constexpr std::array<std::uint8_t, 8> options{icmpv6, 0, router_alert, 2, 0, 0, pad_n, 0};
    const auto to = all_mldv2_routers();
    auto packet = multicast(from, mgid_for_ipv6(to, link.p_key, link.scope), mlid, link);
    packet
        .add(Bytes<Ipv6>{}
                 .set(Ipv6::source, from.ipv6)
                 .set(Ipv6::destination, to)
                 .set(Ipv6::next_header, IpProtocol::hop_by_hop)
                 .set(Ipv6::hop_limit, 1))
        .add(options);
    constexpr std::uint32_t records = 1;
    packet.add(Bytes<Icmpv6>{}.set(Icmpv6::type, Icmpv6Type::mld2_report).set(Icmpv6::body, records));
    return packet.add(Bytes<MldRecord>{}.set(MldRecord::type, record_type).set(MldRecord::group, group));
}

}  // namespace ipoib::build
