// SPDX-License-Identifier: GPL-2.0-or-later
// Every row of the registry is shown of some frame: a row that nothing leads to, or whose example is missing here,
// fails. Attributes need no example: protocol/wire/registry.test.cpp makes theirs.
#include "protocol/wire/registry.hpp"

#include "catch2.hpp"
#include "protocol/build/connection.hpp"
#include "protocol/build/dhcp.hpp"
#include "protocol/build/management.hpp"
#include "protocol/build/samples.hpp"
#include "protocol/wire/cm.hpp"
#include "protocol/wire/golden.hpp"
#include "protocol/wire/igmp.hpp"
#include "protocol/wire/mld.hpp"
#include "protocol/wire/node_record.hpp"
#include "protocol/wire/notice.hpp"
#include "protocol/wire/port_info.hpp"
#include "protocol/wire/smp.hpp"
#include "protocol/wire/switch_info_record.hpp"

#include <algorithm>
#include <map>
#include <set>

using namespace ipoib;
using namespace ipoib::build;
using namespace ipoib::wire;

namespace {

const Node a = samples::host(1), b = samples::host(2), sa = samples::sa();
const Link plain{};
const Gid group6 = Gid::of(0xff02ull << 48, 5);

/// How often each header is shown of a frame.
using Shown = std::map<const HeaderSpec*, int>;
Shown shown(const PacketBuilder& builder, Medium medium = Medium::infiniband) {
    const auto frame = builder.build(medium);
    Packet packet;
    decode(frame, packet, medium);
    CHECK_FALSE(packet.stop);
    Shown all;
    for_each_shown(packet, [&](const HeaderSpec& header, const std::uint8_t* at) {
        CHECK(packet.offset_of(at) + header.size <= frame.size());
        ++all[&header];
    });
    return all;
}

/// An IGMP message of a host to a group.
PacketBuilder igmp_message(Octets octets) {
    auto packet = multicast(a, mgid_for_ipv4(0xe0000016, plain.p_key, plain.scope), 0xc016, plain);
    return packet
        .add(Bytes<Ipv4>{}
                 .set(Ipv4::source, a.ipv4)
                 .set(Ipv4::destination, 0xe0000016)
                 .set(Ipv4::protocol, IpProtocol::igmp))
        .add(octets);
}
PacketBuilder mld_message(Octets octets) {
    auto packet = multicast(a, mgid_for_ipv6(group6, plain.p_key, plain.scope), 0xc005, plain);
    return packet
        .add(Bytes<Ipv6>{}
                 .set(Ipv6::source, a.ipv6)
                 .set(Ipv6::destination, group6)
                 .set(Ipv6::next_header, IpProtocol::icmpv6))
        .add(octets);
}
std::vector<std::uint8_t> message(const char* octets, std::size_t size) {
    auto all = golden::octets(octets);
    all.resize(size);
    return all;
}
PacketBuilder with_extended_headers() {
    auto packet = over_connection(echo_request(a, b, plain, 1), 0x99, 1);
    packet.remove<Encap>();
    PacketBuilder whole;
    return whole.add(Bytes<Lrh>{}.set(Lrh::dlid, 2))
        .add(Bytes<Bth>{}.set(Bth::opcode,
                              opcode_of(TransportService::reliable_connection, Operation::rdma_write_only_immediate)))
        .add(Bytes<Reth>{})
        .add(Bytes<ImmDt>{});
}
/// With Option 61 as RFC 4361 wants it, and Neighbour Discovery of both sides.
std::vector<PacketBuilder> datagrams() {
    return {arp_request(a, b.ipv4, plain),
            neighbour_solicitation(a, b.ipv6, 0xc001, plain),
            neighbour_advertisement(b, a, plain),
            echo_request(a, b, plain, 1),
            echo_request6(a, b, plain, 1),
            udp_to_group(a, 0xefff0102, 0xc002, plain, 100),
            dhcp_discover(a, plain, 7),
            igmp(a, igmp_type::report_v2, 0xefff0102, 0xc002, plain),
            igmp_message(message("11 18 0000 00000000 00 7d 0000", IgmpV3Query::size)),
            igmp_message(message("22 00 0000 0000 0002 04 00 0001 e0000105 0a000001  03 00 0000 e0000106", 28)),
            mld_report(a, group_record::to_exclude, group6, 0xc005, plain),
            mld_message(message("83", Mld::size)),
            mld_message(message("82", MldV2Query::size)),
            with_extended_headers(),
            acknowledgement(View<Lrh>::at(Bytes<Lrh>{}.octets), View<Bth>::at(Bytes<Bth>{}.octets), 0x99, {})};
}
std::vector<PacketBuilder> management() {
    const auto report = [](std::uint16_t number) {
        return group_report(sa, a, trap::multicast_group_created, group6).set(Notice::trap_number, number);
    };
    const std::array<std::uint8_t, 2> route{0, 1};
    return {samples::broadcast_join_answer(a, plain),
            group_report(sa, a, trap::multicast_group_created, group6),
            report(trap::link_state_changed),
            report(trap::bad_q_key),
            report(trap::bad_p_key_at_switch),
            administration(sa, a, Method::get_resp, attribute::node_record, 1, Bytes<NodeRecord>{}),
            administration(sa, a, Method::get_resp, attribute::port_info_record, 1, Bytes<PortInfoRecord>{}),
            administration(sa, a, Method::get_resp, attribute::switch_info_record, 1, Bytes<SwitchInfoRecord>{}),
            connection_request(a, b, 1),
            smp(sa, a, {.method = Method::get, .attribute = smp_attribute::node_info}, Bytes<NodeInfo>{}),
            smp({.method = Method::get, .attribute = smp_attribute::node_info}, route, Bytes<NodeInfo>{})};
}

}  // namespace

TEST_CASE("Registry: each way to a header is gone by some frame, and what it leads to is shown") {
    Shown all = shown(arp_request(a, b.ipv4, plain), Medium::ipoib);
    std::set<const Way*> gone;
    for (const auto& list : {datagrams(), management()})
        for (const auto& builder : list) {
            for (const auto& [header, count] : shown(builder)) all[header] += count;
            const auto frame = builder.build();
            Packet packet;
            decode(frame, packet);
            packet.for_each_header([&](const HeaderSpec& header, const std::uint8_t* at) {
                for (const auto& row : registry())
                    for (const auto& way : row.ways)
                        if (way.outer == &header && !way.find(wire::detail::octets_from(packet, at), 0).empty())
                            gone.insert(&way);
            });
        }
    for (const auto& row : registry())
        for (const auto& way : row.ways) {
            CAPTURE(row.header->key);
            if (way.kind == Way::Kind::path) CHECK(all.contains(row.header));
            if (!way.outer || way.needs_context) continue;
            CAPTURE(way.outer->key);
            CHECK(all.contains(row.header));
            CHECK(gone.contains(&way));
        }
}

TEST_CASE("Registry: what a frame tells of nothing is not shown") {
    // A REP alone does not tell whether it is of IPoIB; a request of another program has another ServiceID.
    CHECK_FALSE(shown(connection_reply(b, a, 1)).contains(&spec_of<CmPrivateData>));
    auto other = connection_request(a, b, 1);
    other.set(CmReq::service_id, 0x0000000001060000);
    CHECK_FALSE(shown(other).contains(&spec_of<CmPrivateData>));
    CHECK_FALSE(shown(echo_request(a, b, plain, 1)).contains(&spec_of<Mgid>));
    // Of a Notice only the details of its own trap.
    const auto report = shown(group_report(sa, a, trap::multicast_group_created, group6));
    CHECK(report.contains(&spec_of<GidDetails>));
    CHECK_FALSE(report.contains(&spec_of<LidDetails>));
}

TEST_CASE("Registry: a whole message is shown instead of its head, and each record of a report") {
    const auto query = shown(datagrams()[8]);
    CHECK(query.contains(&spec_of<IgmpV3Query>));
    CHECK_FALSE(query.contains(&spec_of<Igmp>));
    CHECK(shown(datagrams()[9]).at(&spec_of<IgmpRecord>) == 2);
    const auto directed = shown(management().back());
    CHECK(directed.contains(&spec_of<DirectedSmp>));
    CHECK_FALSE(directed.contains(&spec_of<Mad>));
    CHECK_FALSE(directed.contains(&spec_of<LidSmp>));
}
