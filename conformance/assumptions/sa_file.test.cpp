// SPDX-License-Identifier: GPL-2.0-or-later
// Lists of the SA's records as infiniband-diags 44.0 prints them of OpenSM 3.3.23, and what may come in their place.
#include "conformance/assumptions/statement.hpp"
#include "conformance/assumptions/test_group.hpp"
#include "protocol/wire/mc_member_record.hpp"
#include "protocol/wire/text.hpp"

#include <catch2.hpp>
#include <fstream>
#include <random>
#include <temporary_folder.hpp>

using namespace ipoib;
using namespace ipoib::assumptions;

namespace {

/// `saquery -g`
constexpr std::string_view groups_printed =
    R"(MCMemberRecord group dump:
		MGID....................ff12:401b:8123::ffff:ffff
		Mlid....................0xC001
		Mtu.....................0x83
		pkey....................0x8123
		Rate....................0x86
		SL......................0x3
MCMemberRecord group dump:
		MGID....................ff12:401b:ffff::ffff:ffff
		Mlid....................0xC000
		Mtu.....................0x84
		pkey....................0xFFFF
		Rate....................0x83
		SL......................0x0
MCMemberRecord group dump:
		MGID....................ff15:401b:8456::ffff:ffff
		Mlid....................0xC002
		Mtu.....................0x84
		pkey....................0x8456
		Rate....................0x83
		SL......................0x0
)";

/// `saquery --smkey 1 -m`: an SA that trusts the asker names the members.
constexpr std::string_view members_printed =
    R"(MCMemberRecord member dump:
		MGID....................ff12:401b:8123::ffff:ffff
		Mlid....................0xC001
		PortGid.................fe80::10:3
		ScopeState..............0x25
		ProxyJoin...............0x0
		NodeDescription.........beta (rack 7) HCA-1
MCMemberRecord member dump:
		MGID....................ff12:401b:ffff::ffff:ffff
		Mlid....................0xC000
		PortGid.................fe80::10:1
		ScopeState..............0x21
		ProxyJoin...............0x0
		NodeDescription.........alpha HCA-1
MCMemberRecord member dump:
		MGID....................ff15:401b:8456::ffff:ffff
		Mlid....................0xC002
		PortGid.................fe80::10:5
		ScopeState..............0x52
		ProxyJoin...............0x0
		NodeDescription.........<unknown>
)";

/// `saquery -m`: one that does not gives each group once, with no port.
constexpr std::string_view members_hidden =
    R"(MCMemberRecord member dump:
		MGID....................ff12:401b:8123::ffff:ffff
		Mlid....................0xC001
		PortGid.................::
		ScopeState..............0x20
		ProxyJoin...............0x0
		NodeDescription.........<unknown>
MCMemberRecord member dump:
		MGID....................ff12:401b:ffff::ffff:ffff
		Mlid....................0xC000
		PortGid.................::
		ScopeState..............0x20
		ProxyJoin...............0x0
		NodeDescription.........<unknown>
MCMemberRecord member dump:
		MGID....................ff15:401b:8456::ffff:ffff
		Mlid....................0xC002
		PortGid.................::
		ScopeState..............0x50
		ProxyJoin...............0x0
		NodeDescription.........<unknown>
)";

/// The first record of `saquery --smkey 1 MCMR`.
constexpr std::string_view record_printed =
    R"(MCMember Record dump:
		MGID....................ff12:401b:8123::ffff:ffff
		PortGid.................fe80::10:3
		qkey....................0x80000b1b
		mlid....................0xc001
		mtu.....................0x83
		TClass..................0x20
		pkey....................0x8123
		rate....................0x86
		pkt_life................0x92
		SL......................0x3
		FlowLabel...............0x12345
		HopLimit................0x0
		Scope...................0x2
		JoinState...............0x5
		ProxyJoin...............0x0
)";

const std::string name = "list.txt";

/// What the refusal says; empty where the text is taken.
std::string refusal(std::string_view text) {
    try {
        static_cast<void>(parse_sa_list(text, name));
        return {};
    } catch (const std::runtime_error& wrong) {
        return wrong.what();
    }
}

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

std::string replaced(std::string_view text, std::string_view part, std::string_view by) {
    std::string result(text);
    const auto at = result.find(part);
    REQUIRE(at != std::string::npos);
    return result.replace(at, part.size(), by);
}

const StatedGroup& group_of(const Statement& statement, std::string_view mgid) {
    for (const auto& group : statement.groups)
        if (wire::text(group.parameters.mgid) == mgid) return group;
    FAIL("no group " << mgid);
    return statement.groups.front();
}

constexpr std::string_view default_broadcast = "ff12:401b:ffff::ffff:ffff", controlled = "ff12:401b:8123::ffff:ffff",
                           scoped = "ff15:401b:8456::ffff:ffff";

}  // namespace

TEST_CASE("saquery -g tells MLID, MTU, P_Key, rate and SL, and nothing else") {
    const auto statement = parse_sa_list(groups_printed, name);
    CHECK(statement.source == state::Source::file);
    CHECK(statement.origin == name);
    REQUIRE(statement.groups.size() == 3);
    for (const auto& group : statement.groups) {
        CHECK(group.given == (bit(Parameter::mlid) | bit(Parameter::mtu) | bit(Parameter::p_key) |
                              bit(Parameter::rate) | bit(Parameter::sl)));
        CHECK_FALSE(group.members_are_listed);
        CHECK(group.members.empty());
    }
    // Octets of the record: 0x83 is "exactly" and code 3.
    const auto& parameters = statement.groups[0].parameters;
    CHECK(wire::text(parameters.mgid) == controlled);
    CHECK(parameters.mtu == 3);
    CHECK(parameters.rate == 6);
    CHECK(parameters.mlid == 0xc001);
    CHECK(parameters.p_key == 0x8123);
    CHECK(parameters.sl == 3);
    CHECK(group_of(statement, default_broadcast).parameters.p_key == 0xffff);
}

TEST_CASE("saquery -m of an SA that trusts the asker tells the members") {
    const auto statement = parse_sa_list(members_printed, name);
    REQUIRE(statement.groups.size() == 3);
    const auto& group = group_of(statement, controlled);
    CHECK(group.members_are_listed);
    CHECK(group.given == (bit(Parameter::mlid) | bit(Parameter::scope)));
    CHECK(group.parameters.scope == 2);
    REQUIRE(group.members.size() == 1);
    const auto& member = group.members[0];
    CHECK(wire::text(member.port_gid) == "fe80::10:3");
    CHECK(member.join_state == (wire::join_state::full_member | wire::join_state::send_only_non_member));
    CHECK_FALSE(member.proxy);
    CHECK(member.node_description == "beta (rack 7) HCA-1");
    const auto& other = group_of(statement, scoped);
    CHECK(other.parameters.scope == 5);
    REQUIRE(other.members.size() == 1);
    CHECK(other.members[0].node_description.empty());
}

TEST_CASE("saquery -m of an SA that hides the members says nothing of them") {
    const auto statement = parse_sa_list(members_hidden, name);
    REQUIRE(statement.groups.size() == 3);
    for (const auto& group : statement.groups) {
        CHECK_FALSE(group.members_are_listed);
        CHECK(group.members.empty());
    }
}

TEST_CASE("saquery MCMR tells everything") {
    const auto statement = parse_sa_list(record_printed, name);
    const auto& group = statement.groups.at(0);
    CHECK(group.given == (std::uint32_t{1} << parameter_count) - 1);
    CHECK(group.parameters == controlled_group);
    CHECK(group.members.at(0).join_state == 5);
}

TEST_CASE("Several lists after one another are put together") {
    const auto all = std::string(groups_printed) + "$ saquery -m\r\n" + std::string(members_hidden) +
                     std::string(members_printed) + std::string(record_printed);
    const auto statement = parse_sa_list(all, name);
    REQUIRE(statement.groups.size() == 3);
    const auto& group = group_of(statement, controlled);
    CHECK(group.given == (std::uint32_t{1} << parameter_count) - 1);
    REQUIRE(group.members.size() == 1);
    CHECK(group.members[0].node_description == "beta (rack 7) HCA-1");
    CHECK(group.members_are_listed);
    CHECK(group_of(statement, scoped).tells(Parameter::sl));
}

TEST_CASE("A port that is listed twice is one member, and the later record holds") {
    const auto later = replaced(members_printed, "0x25", "0x24");
    const auto statement = parse_sa_list(std::string(members_printed) + later, name);
    const auto& group = group_of(statement, controlled);
    REQUIRE(group.members.size() == 1);
    CHECK(group.members[0].join_state == 4);
}

TEST_CASE("Carriage returns, a byte order mark, blanks and other records do not matter") {
    std::string text = "\xef\xbb\xbfNodeRecord dump:\n\t\tlid.....................1\n\t\tmtu.....................9\n";
    for (const char c : groups_printed) {
        if (c == '\n') text += " \r";
        text += c;
    }
    text += "PathRecord dump:\n\t\tpkey....................0x1\n\t\tPortGid.................fe80::1\n";
    CHECK(parse_sa_list(text, name).groups.size() == 3);
}

TEST_CASE("GIDs as two numbers, as older releases print them, and a proxy's octet are read") {
    const auto text =
        replaced(replaced(replaced(members_printed, controlled, "0xff12401b81230000 : 0x00000000ffffffff"),
                          "fe80::10:3", "0xfe80000000000000 : 0x0000000000100003"),
                 "ProxyJoin...............0x0", "ProxyJoin...............0x80");
    const auto statement = parse_sa_list(text, name);
    const auto& member = group_of(statement, controlled).members.at(0);
    CHECK(wire::text(member.port_gid) == "fe80::10:3");
    CHECK(member.proxy);
}

TEST_CASE("A flow label that an older release printed in the wrong byte order is put right") {
    const auto statement = parse_sa_list(replaced(record_printed, "0x12345", "0x45230100"), name);
    CHECK(statement.groups.at(0).parameters.flow_label == 0x12345);
    CHECK(contains(refusal(replaced(record_printed, "0x12345", "0x12345678")), "flowlabel"));
}

TEST_CASE("A selector other than exactly does not matter, a code that is none does") {
    CHECK(parse_sa_list(replaced(groups_printed, "0x83", "0x3"), name).groups[0].parameters.mtu == 3);
    CHECK(parse_sa_list(replaced(groups_printed, "0x83", "0xc3"), name).groups[0].parameters.mtu == 3);
    CHECK(contains(refusal(replaced(groups_printed, "0x83", "0x80")), "line 4: mtu=\"0x80\""));
    CHECK(contains(refusal(replaced(groups_printed, "0x83", "0x8")), "1 to 5"));
}

TEST_CASE("What is wrong is named with file and line") {
    CHECK(refusal("").find("list.txt: no record of a multicast group found") == 0);
    CHECK(contains(refusal("hello\nworld\n"), "saquery"));
    CHECK(contains(refusal("NodeRecord dump:\n\t\tlid.....................1\n"), "no record"));
    CHECK(refusal(replaced(groups_printed, "0x8123", "0x18123")).find("list.txt: line 5: pkey=\"0x18123\"") == 0);
    CHECK(contains(refusal(replaced(groups_printed, controlled, "fe80::1")), "fe80::1 is no multicast GID"));
    CHECK(
        contains(refusal(replaced(groups_printed, controlled, "ff12:401b")), "line 2: mgid is no GID: \"ff12:401b\""));
    CHECK(contains(refusal(replaced(groups_printed, "0xC001", "0x1")), "mlid"));
    CHECK(contains(refusal(replaced(members_printed, "fe80::10:3", "ff12::1")), "multicast GID"));
    CHECK(contains(refusal(replaced(members_printed, "0x25", "0x125")), "line 5: scopestate is no octet"));
    CHECK(contains(refusal(replaced(members_printed, "\t\tScopeState..............0x25\n", "")),
                   "line 1: the record that begins here has no JoinState"));
    CHECK(contains(refusal("\t\tPortGid.................fe80::1 (node)\n"), "does not say of which group"));
    CHECK(contains(refusal(std::string(groups_printed) + "\t\tPortGid.................fe80::1 (node)\n"),
                   "line 22: a PortGid that belongs to no record"));
    CHECK(contains(refusal(groups_printed.substr(groups_printed.find('\n') + 1)), "line 1: an MGID outside"));
    CHECK(contains(refusal(replaced(groups_printed, "\t\tMtu", "\t\tSL......................0x3\n\t\tMtu")), "twice"));
    CHECK(contains(refusal(std::string(groups_printed) + '\0'), "line 22: a NUL octet"));
}

TEST_CASE("Records that contradict each other are refused with both lines") {
    const auto why = refusal(std::string(groups_printed) + replaced(record_printed, "0x83", "0x84"));
    CHECK(contains(why, "line 22: the record of ff12:401b:8123::ffff:ffff has mtu 2048"));
    CHECK(contains(why, "that of line 1 has 1024"));
}

TEST_CASE("A list cut anywhere is refused, or what it says is true") {
    for (const auto text : {groups_printed, members_printed, members_hidden, record_printed}) {
        const auto whole = parse_sa_list(text, name);
        for (std::size_t size = 0; size < text.size(); ++size) {
            INFO(text.substr(0, size));
            try {
                for (const auto& group : parse_sa_list(text.substr(0, size), name).groups) {
                    const auto& truth = group_of(whole, wire::text(group.parameters.mgid));
                    CHECK((group.given & ~truth.given) == 0);
                    const auto& said = group.parameters;
                    if (group.tells(Parameter::mlid)) CHECK(said.mlid == truth.parameters.mlid);
                    if (group.tells(Parameter::mtu)) CHECK(said.mtu == truth.parameters.mtu);
                    if (group.tells(Parameter::rate)) CHECK(said.rate == truth.parameters.rate);
                    if (group.tells(Parameter::p_key)) CHECK(said.p_key == truth.parameters.p_key);
                    if (group.tells(Parameter::q_key)) CHECK(said.q_key == truth.parameters.q_key);
                    if (group.tells(Parameter::flow_label)) CHECK(said.flow_label == truth.parameters.flow_label);
                    if (group.tells(Parameter::hop_limit)) CHECK(said.hop_limit == truth.parameters.hop_limit);
                    for (std::size_t i = 0; i < group.members.size(); ++i) {
                        CHECK(group.members[i].port_gid == truth.members.at(i).port_gid);
                        CHECK(group.members[i].join_state == truth.members.at(i).join_state);
                    }
                }
            } catch (const std::runtime_error& wrong) {
                CHECK(std::string_view(wrong.what()).substr(0, 10) == "list.txt: ");
            }
        }
    }
}

TEST_CASE("Descriptions are taken as they are, but for what a terminal obeys") {
    const auto described = [](std::string_view text) {
        const auto statement = parse_sa_list(replaced(members_printed, "beta (rack 7) HCA-1", text), name);
        return group_of(statement, controlled).members.at(0).node_description;
    };
    CHECK(described("..dots") == "..dots");
    CHECK(described("") == "");
    CHECK(described("dump:") == "dump:");
    CHECK(described("a\x1b[31mb") == "a\\x1b[31mb");
    CHECK(described("\xff\xfe") == "\\xff\\xfe");
    CHECK(described(std::string(100'000, 'x')).size() <= 300);
}

TEST_CASE("A very long line, very many groups and random octets end well") {
    CHECK(contains(refusal(std::string(10'000'000, '.')), "no record"));
    const auto why = refusal("MCMemberRecord group dump:\n\t\tMGID...................." + std::string(10'000'000, '0'));
    CHECK(contains(why, "line 2"));
    CHECK(why.size() < 300);

    std::string many;
    for (unsigned i = 0; i <= most_groups; ++i)
        many += "MCMemberRecord group dump:\nMGID..ff12::" + wire::hex(i, 5).substr(3) + ":" +
                wire::hex(i >> 16, 1).substr(2) + "\n";
    CHECK(contains(refusal(many), "more than 65536 groups"));

    std::mt19937 random(2);
    const std::string all = std::string(groups_printed) + std::string(members_printed) + std::string(record_printed);
    for (int i = 0; i < 3000; ++i) {
        auto text = all;
        for (auto n = 1 + random() % 6; n > 0; --n) text[random() % text.size()] = static_cast<char>(random() % 256);
        for (const char c : refusal(text)) REQUIRE((static_cast<unsigned char>(c) >= 0x20 && c != 0x7f));
    }
}

TEST_CASE("A file is read whole, and what is no file is refused") {
    const TemporaryFolder folder;
    const auto file = folder / "list";
    std::ofstream{file} << groups_printed;
    CHECK(read_sa_file(file).groups.size() == 3);
    CHECK(read_sa_file(file).origin == file);
    CHECK_THROWS_WITH(read_sa_file("-"), ContainsSubstring("standard input"));
    CHECK_THROWS_WITH(read_sa_file("/nowhere/list"), ContainsSubstring("/nowhere/list: No such file"));
    CHECK_THROWS_WITH(read_sa_file("/"), ContainsSubstring("directory"));
    CHECK_THROWS_WITH(read_sa_file("/dev/zero"), ContainsSubstring("64 MiB"));
}
