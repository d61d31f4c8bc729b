// SPDX-License-Identifier: GPL-2.0-or-later
// Reports of group membership as routers read them, tables of the SA, and what the SM sets.
#include "protocol/build/management.hpp"

#include "catch2.hpp"
#include "protocol/build/samples.hpp"
#include "protocol/wire/mld.hpp"
#include "protocol/wire/rmpp.hpp"
#include "protocol/wire/smp.hpp"
#include "protocol/wire/text.hpp"

#include <array>

using namespace ipoib;
using namespace ipoib::build;
using namespace ipoib::wire;

TEST_CASE("MLD: a report goes to all MLDv2 routers with a Router Alert, and its checksum is right") {
    const auto host = samples::host(1);
    const auto group = parse_gid("ff05::1:3").value();
    const auto frame = mld_report(host, wire::group_record::to_exclude, group, 0xc007, samples::controlled()).build();
    Packet packet;
    decode(frame, packet);
    CHECK(packet.lrh[Lrh::dlid] == 0xc007);
    CHECK(text(packet.grh[Grh::dgid]) == "ff12:601b:8123::16");
    REQUIRE(packet.ipv6);
    CHECK(packet.ipv6[Ipv6::hop_limit] == 1);
    CHECK(packet.ipv6[Ipv6::source] == host.ipv6);
    CHECK(packet.ipv6[Ipv6::next_header] == IpProtocol::hop_by_hop);
    CHECK(packet.ip_protocol == IpProtocol::icmpv6);
    const auto options = Octets{packet.ipv6.data() + Ipv6::size, 8};
    CHECK(hex_octets(options) == "3a00050200000100");
    std::size_t records = 0;
    const auto walk = for_each_mld_record(packet.ip_payload, [&](View<MldRecord> record, Octets sources) {
        ++records;
        CHECK(record[MldRecord::type] == wire::group_record::to_exclude);
        CHECK(record[MldRecord::group] == group);
        CHECK(sources.empty());
    });
    CHECK(walk.is_complete);
    CHECK(records == 1);
    auto sum = static_cast<std::uint32_t>(packet.ip_payload.size() + static_cast<std::size_t>(IpProtocol::icmpv6));
    for (std::size_t i = 8; i < Ipv6::size; i += 2)
        sum += static_cast<std::uint32_t>(packet.ipv6.data()[i] << 8 | packet.ipv6.data()[i + 1]);
    CHECK(internet_checksum(packet.ip_payload, sum) == 0);
}

TEST_CASE("SA: a table of groups is one whole segment, and what is acknowledged is no table") {
    const auto host = samples::host(1), sa = samples::sa();
    const auto link = samples::controlled();
    const std::array records{broadcast_record(host, link),
                             build::group_record(host, link, Gid::of(0xff12, 1), 0xc001, 0)};
    const auto frame = group_table(sa, host, 7, records).build();
    Packet packet;
    decode(frame, packet);
    RmppReassembly reassembly;
    const auto result = reassembly.add(sa.lid, host.lid, packet.octets.subspan(packet.offset_of(packet.mad.data())));
    REQUIRE(result.table);
    CHECK(result.table->is_length_right);
    std::vector<std::uint16_t> mlids;
    for_each_record<McMemberRecord>(*result.table, [&](View<McMemberRecord> record) {
        if (!record[McMemberRecord::mgid].is_zero()) mlids.push_back(record[McMemberRecord::mlid]);
    });
    CHECK(mlids == std::vector<std::uint16_t>{link.broadcast_mlid, 0xc001});
    const std::vector<Bytes<McMemberRecord>> too_many(4);
    CHECK_THROWS_WITH(group_table(sa, host, 7, too_many), ContainsSubstring("segment"));

    const auto answer = group_table_acknowledgement(host, sa, 7).build();
    decode(answer, packet);
    REQUIRE(packet.rmpp);
    CHECK(packet.rmpp[Rmpp::type] == RmppType::ack);
    CHECK(packet.rmpp[Rmpp::segment_number] == 1);
}

TEST_CASE("SM: a P_KeyTable's first block has the P_Keys at its beginning, and zeros behind") {
    const std::array<std::uint16_t, 2> p_keys{0xffff, 0x8123};
    const auto frame = p_key_table(samples::sa(), samples::host(1), Method::set, p_keys).build();
    Packet packet;
    decode(frame, packet);
    REQUIRE(packet.mad);
    CHECK(packet.mad[Mad::attribute_id] == smp_attribute::p_key_table);
    CHECK(packet.bth[Bth::dest_qp] == 0);
    const auto smp = View<LidSmp>::at(packet.octets.subspan(packet.offset_of(packet.mad.data())));
    REQUIRE(smp);
    OctetArray<64> expected{0xff, 0xff, 0x81, 0x23};
    CHECK(smp[LidSmp::data] == expected);
}

TEST_CASE("SM: an SMP by a directed route is as its manager's port sends and receives it") {
    const std::array<std::uint8_t, 3> route{1, 7, 12};
    Bytes<PortInfo> info;
    info.set(PortInfo::lid, 9).set(PortInfo::lmc, 2);
    SmpHead head{.method = Method::set, .attribute = smp_attribute::port_info, .transaction = 5, .modifier = 1};
    for (const auto method : {Method::set, Method::get_resp}) {
        head.method = method;
        const auto frame = smp(head, route, info).build();
        Packet packet;
        decode(frame, packet);
        REQUIRE(packet.get<PortInfo>());
        CHECK(packet.get<PortInfo>()[PortInfo::lid] == 9);
        CHECK(packet.lrh[Lrh::dlid] == DirectedSmp::permissive_lid);
        const auto mad = View<DirectedSmp>::at(packet.octets.subspan(packet.offset_of(packet.mad.data())));
        REQUIRE(mad);
        CHECK(mad[DirectedSmp::is_returning] == (method == Method::get_resp));
        CHECK(mad[DirectedSmp::hop_count] == 3);
        CHECK(mad[DirectedSmp::hop_pointer] == 1);
        CHECK(mad[DirectedSmp::dr_slid] == DirectedSmp::permissive_lid);
        CHECK(mad[DirectedSmp::dr_dlid] == DirectedSmp::permissive_lid);
        CHECK(mad[DirectedSmp::attribute_modifier] == 1);
        CHECK(mad[DirectedSmp::initial_path] == OctetArray<64>{0, 1, 7, 12});
    }
}
