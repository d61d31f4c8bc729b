// SPDX-License-Identifier: GPL-2.0-or-later
// Ports in the form in which infiniband-diags 44.0 prints them, with values that differ from each other.
#include "conformance/assumptions/statement.hpp"
#include "protocol/wire/text.hpp"

#include <algorithm>
#include <catch2.hpp>

using namespace ipoib;
using namespace ipoib::assumptions;

namespace {

const std::string group = "MCMemberRecord group dump:\n\t\tMGID....................ff12:401b:ffff::ffff:ffff\n";

/// `saquery NR`, cut to what matters and what is around it.
const std::string nodes = R"(NodeRecord dump:
		lid.....................2
		reserved................0x0
		node_type...............Channel Adapter
		num_ports...............1
		sys_guid................0x0000000000100000
		port_guid...............0x0000000000100001
		port_num................1
		NodeDescription.........manager HCA-1
NodeRecord dump:
		lid.....................1
		node_type...............Switch
		port_guid...............0x0000000000200000
		port_num................3
		NodeDescription.........edge
)";

/// `saquery PIR`.
const std::string port_infos = R"(PortInfoRecord dump:
	RID
		EndPortLid..............2
		PortNum.................1
		Options.................0x0
	PortInfo dump:
		Mkey:............................<not displayed>
		GidPrefix:.......................0xfec0000000000000
		Lid:.............................2
		CapMask:.........................0x50c04a
				IsSM
		LocalPort:.......................1
		LinkWidthActive:.................4X
		LinkSpeedActive:.................10.0 Gbps
		NeighborMTU:.....................2048
		MtuCap:..........................4096
		LinkSpeedExtActive:..............25.78125 Gbps
PortInfoRecord dump:
	RID
		EndPortLid..............1
		PortNum.................3
		Options.................0x0
	PortInfo dump:
		NeighborMTU:.....................256
PortInfoRecord dump:
	RID
		EndPortLid..............1
		PortNum.................0
		Options.................0x0
	PortInfo dump:
		GidPrefix:.......................0xfe80000000000000
		LinkWidthActive:.................4X
		NeighborMTU:.....................4096
		LinkSpeedActive:.................2.5 Gbps
		LinkSpeedExtActive:..............No Extended Speed
)";

/// `saquery --smkey 1 PKTR`.
const std::string p_keys = R"(PKeyTableRecord dump:
		LID........................2
		Port.......................1
		Block......................0
		PKey Table:
		0xffff 0x0200 0x8123 0x0000
		0x0000 0x0000 0x0000 0x0000

PKeyTableRecord dump:
		LID........................2
		Port.......................1
		Block......................1
		PKey Table:
		0x8001 0x0000 0x0000 0x0000
)";

std::string wrong(const std::string& text) {
    try {
        (void)parse_sa_list(text, "ports");
    } catch (const std::runtime_error& why) {
        return why.what();
    }
    return "nothing";
}

}  // namespace

TEST_CASE("Ports: what the records of a port say is put together by its LID") {
    for (const auto& text : {group + nodes + port_infos + p_keys, p_keys + port_infos + group + nodes}) {
        const auto told = parse_sa_list(text, "ports");
        REQUIRE(told.groups.size() == 1);
        REQUIRE(told.ports.size() == 2);
        const auto &edge = told.ports[0], &manager = told.ports[1];
        CHECK(wire::text(manager.gid) == "fec0::10:1");
        CHECK(manager.lid == 2);
        CHECK(manager.mtu == 4);
        CHECK(manager.rate == 16);
        CHECK(manager.node_description == "manager HCA-1");
        CHECK(manager.p_keys == std::vector<std::uint16_t>{0xffff, 0x0200, 0x8123, 0x8001});
        CHECK(wire::text(edge.gid) == "fe80::20:0");
        CHECK(edge.mtu == 5);
        CHECK(edge.rate == 3);
        CHECK_FALSE(edge.p_keys);
    }
}

TEST_CASE("Ports: what was not printed is not told") {
    const auto told = parse_sa_list(group + nodes, "ports");
    REQUIRE(told.ports.size() == 2);
    CHECK(told.ports[0].mtu == 0);
    CHECK(told.ports[0].rate == 0);
    // Nobody knows what port has this LID.
    CHECK(parse_sa_list(group + port_infos, "ports").ports.empty());
}

TEST_CASE("Ports: records that make no sense are refused with their line") {
    CHECK_THAT(wrong(group + "NodeRecord dump:\n\t\tlid.....................99999\n"),
               ContainsSubstring("line 4: lid"));
    CHECK_THAT(wrong(group + "NodeRecord dump:\n\t\tport_guid...............0x1\n"),
               ContainsSubstring("line 3: the record that begins here has no LID"));
    CHECK_THAT(wrong(group + "PKeyTableRecord dump:\n\t\tLID........................2\n\t\t0xffff\n"),
               ContainsSubstring("has no port number"));
    CHECK_THAT(wrong(group + "PKeyTableRecord dump:\n\t\tLID........2\n\t\tPort.......1\n\t\t0xffff 0x12345\n"),
               ContainsSubstring("line 6: a P_Key"));
    CHECK_THAT(wrong(nodes), ContainsSubstring("no record of a multicast group"));
    const auto whole = group + nodes + port_infos + p_keys;
    const auto told = parse_sa_list(whole, "ports");
    std::size_t refused = 0;
    for (std::size_t size = group.size(); size < whole.size(); ++size) {
        if (whole[size - 1] == '\n') continue;
        if (wrong(whole.substr(0, size)) != "nothing") {
            ++refused;
            continue;
        }
        // What is not refused says less, and nothing else.
        const auto less = parse_sa_list(whole.substr(0, size), "ports");
        for (const auto& port : less.ports) {
            const auto same = std::ranges::find(told.ports, port.lid, &StatedPort::lid);
            REQUIRE(same != told.ports.end());
            CHECK((port.mtu == 0 || port.mtu == same->mtu));
            CHECK(same->node_description.starts_with(port.node_description));
        }
    }
    CHECK(refused > whole.size() / 2);
}
