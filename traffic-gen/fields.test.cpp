// SPDX-License-Identifier: GPL-2.0-or-later
#include "traffic-gen/fields.hpp"

#include "catch2.hpp"
#include "protocol/build/management.hpp"
#include "protocol/build/samples.hpp"
#include "protocol/wire/node_record.hpp"
#include "protocol/wire/p_key_table_record.hpp"
#include "protocol/wire/registry.hpp"
#include "protocol/wire/text.hpp"

namespace ipoib::traffic {
namespace {

using namespace wire;
namespace samples = build::samples;

std::mt19937_64 chance{1};

build::PacketBuilder echo() { return echo_request(samples::host(1), samples::host(2), samples::controlled(), 1); }

/// The values of a field in a row of packets.
template <class Header, class T>
std::vector<std::uint64_t> values(const char* text, const Field<Header, T>& field, std::size_t count) {
    Override setting{text};
    std::vector<std::uint64_t> found;
    for (std::size_t i = 0; i < count; ++i) {
        auto packet = echo();
        CHECK(setting.apply(packet, chance));
        const auto frame = packet.build();
        Packet decoded;
        decode(frame, decoded);
        found.push_back(static_cast<std::uint64_t>(decoded.get<Header>()[field]));
    }
    return found;
}

std::string wrong(const char* text) {
    try {
        const Override setting{text};
    } catch (const std::invalid_argument& why) {
        return why.what();
    }
    return "nothing";
}

using Values = std::vector<std::uint64_t>;

TEST_CASE("Fields: a value, a list, a range with and without steps, by names in upper or lower case") {
    CHECK(values("Encap.Reserved=0x1234", Encap::reserved, 2) == Values{0x1234, 0x1234});
    CHECK(values("encap.reserved=1,2,3", Encap::reserved, 4) == Values{1, 2, 3, 1});
    CHECK(values("BTH.DestQP=7..9", Bth::dest_qp, 5) == Values{7, 8, 9, 7, 8});
    CHECK(values("bth.destqp=0..20/10", Bth::dest_qp, 4) == Values{0, 10, 20, 0});
    CHECK(values("IPv4.Source=10.1.0.9,10.1.0.10", Ipv4::source, 2) == Values{0x0a010009, 0x0a01000a});
    CHECK(values("LRH.SL=15", Lrh::sl, 1) == Values{15});
}

TEST_CASE("Fields: chance keeps to its bounds and is repeatable") {
    chance.seed(7);
    const auto first = values("LRH.SL=random 3..5", Lrh::sl, 50);
    for (const auto value : first) CHECK((value >= 3 && value <= 5));
    chance.seed(7);
    CHECK(values("LRH.SL=random 3..5", Lrh::sl, 50) == first);
    CHECK(values("DETH.Q_Key=random", Deth::q_key, 2)[0] != 0);
}

TEST_CASE("Fields: GIDs, and headers that a packet lacks") {
    Override gid{"GRH.DGID=ff12:401b:ffff::1"};
    auto without = echo();
    CHECK_FALSE(gid.apply(without, chance));
    auto packet = udp_to_group(samples::host(1), 0xefc00001, 0xc001, samples::controlled(), 8);
    CHECK(gid.apply(packet, chance));
    CHECK(text(packet.get<Grh>()[Grh::dgid]) == "ff12:401b:ffff::1");
}

TEST_CASE("Fields: lengths and CRCs are right for the lie, and the field keeps it") {
    Override setting{"LRH.PktLen=9"};
    auto packet = echo();
    (void)setting.apply(packet, chance);
    const auto frame = packet.build();
    CHECK(View<Lrh>::at(frame)[Lrh::packet_length] == 9);
    CHECK(vcrc(Octets{frame}.first(frame.size() - vcrc_size)) ==
          (frame[frame.size() - 1] << 8 | frame[frame.size() - 2]));
}

TEST_CASE("Fields: every field of every header that is known can be named") {
    for (const auto& row : registry())
        for (const auto& field : row.header->fields) {
            const bool is_short = field.width <= 64;
            const std::string value = is_short ? "0"
                                      : field.show == Show::gid || field.show == Show::ipv6
                                          ? "::"
                                          : std::string(field.width / 4, '0');
            const Override setting{std::string(row.header->key) + '.' + std::string(field.name) + '=' + value};
            CHECK(&setting.field() == &field);
        }
}

TEST_CASE("Fields: a header within another one is set where it stands") {
    const auto sa = samples::sa(), host = samples::host(1);
    auto answer =
        administration(sa, host, Method::get_resp, attribute::p_key_table_record, 1, Bytes<PKeyTableRecord>{});
    Override block{"P_KeyTableRecord.BlockNum=7"};
    CHECK(block.apply(answer, chance));
    CHECK(answer.get<PKeyTableRecord>()[PKeyTableRecord::block] == 7);

    auto node = administration(sa, host, Method::get_resp, attribute::node_record, 1, Bytes<NodeRecord>{});
    Override type{"NodeInfo.NodeType=2"};
    CHECK(type.apply(node, chance));
    CHECK(node_info(node.get<NodeRecord>())[NodeInfo::node_type] == 2);

    auto report = group_report(sa, host, trap::multicast_group_created, Gid::of(1, 2));
    Override gid{"notice_gid.GIDADDR=fe80::9"}, lid{"notice_lid.LIDADDR=9"};
    CHECK(gid.apply(report, chance));
    CHECK(text(gid_details(report.get<Notice>())[GidDetails::gid]) == "fe80::9");
    CHECK_FALSE(lid.apply(report, chance));

    Override scope{"MGID.Scope=5"};
    auto unicast = echo();
    CHECK_FALSE(scope.apply(unicast, chance));
    auto packet = udp_to_group(samples::host(1), 0xefc00001, 0xc001, samples::controlled(), 8);
    CHECK(scope.apply(packet, chance));
    CHECK(mgid_of(packet.get<Grh>()[Grh::dgid])[Mgid::scope] == 5);
}

TEST_CASE("Fields: what cannot be is said") {
    CHECK_THAT(wrong("Reserved"), ContainsSubstring("is no HEADER.FIELD=VALUE"));
    CHECK_THAT(wrong("Foo.Bar=1"), ContainsSubstring("'Foo' is no header"));
    CHECK_THAT(wrong("Encap.Foo=1"), ContainsSubstring("'Foo' is no field of Encap"));
    CHECK_THAT(wrong("Encap.Reserved=0x10000"), ContainsSubstring("does not fit into its 16 bits"));
    CHECK_THAT(wrong("Encap.Reserved=x"), ContainsSubstring("is no number"));
    CHECK_THAT(wrong("Encap.Reserved="), ContainsSubstring("is no number"));
    CHECK_THAT(wrong("Encap.Reserved=5..2"), ContainsSubstring("empty range"));
    CHECK_THAT(wrong("Encap.Reserved=1..5/0"), ContainsSubstring("empty range"));
    CHECK_THAT(wrong("GRH.DGID=random"), ContainsSubstring("at most 64 bits"));
    CHECK_THAT(wrong("GRH.DGID=nonsense"), ContainsSubstring("is no GID"));
}

}  // namespace
}  // namespace ipoib::traffic
