// SPDX-License-Identifier: GPL-2.0-or-later
// Reports of group membership as routers read them.
#include "protocol/build/management.hpp"

#include "catch2.hpp"
#include "protocol/build/samples.hpp"
#include "protocol/wire/mld.hpp"
#include "protocol/wire/text.hpp"

using namespace ipoib;
using namespace ipoib::build;
using namespace ipoib::wire;

TEST_CASE("MLD: a report goes to all MLDv2 routers with a Router Alert, and its checksum is right") {
    const auto host = samples::host(1);
    const auto group = parse_gid("ff05::1:3").value();
    const auto frame = mld_report(host, group_record::to_exclude, group, 0xc007, samples::controlled()).build();
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
        CHECK(record[MldRecord::type] == group_record::to_exclude);
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
