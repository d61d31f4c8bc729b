// SPDX-License-Identifier: GPL-2.0-or-later
// What ports are called: files, records, directed routes.
#include "dissector/host_names.hpp"

#include "catch2.hpp"
#include "protocol/build/management.hpp"
#include "protocol/build/samples.hpp"
#include "protocol/wire/node_record.hpp"
#include "protocol/wire/smp.hpp"
#include "temporary_folder.hpp"

#include <cstring>
#include <fstream>

using namespace ipoib;
using namespace ipoib::dissector;
using namespace ipoib::wire;

namespace {

constexpr std::uint64_t guid = 0x0002c90300100001;

std::string path_of(const TemporaryFolder& folder, const std::string& text) {
    const auto path = folder.path() / "names";
    std::ofstream{path} << text;
    return path.string();
}

/// A directed-route answer as the plugin sees it: LRH to the end of the MAD.
std::vector<std::uint8_t> answer(std::uint16_t attribute, std::uint8_t port_out, std::string_view data) {
    std::vector<std::uint8_t> frame(8 + 12 + 8 + DirectedSmp::size);
    auto at = [&](std::size_t offset) -> std::uint8_t& { return frame[offset]; };
    at(1) = 2;  // LNH: local, with a BTH
    at(6) = at(7) = 0xff;
    at(4 + 1) = static_cast<std::uint8_t>(frame.size() / 4);
    at(2) = at(3) = 0xff;
    at(8) = 0x64;  // UD SEND Only
    at(10) = at(11) = 0xff;
    at(20) = 0x80;  // Q_Key of QP 1 and 0
    const std::size_t mad = 28;
    at(mad) = 1;
    at(mad + 1) = 0x81;
    at(mad + 2) = 1;
    at(mad + 3) = 0x81;
    at(mad + 7) = 1;
    at(mad + 16) = static_cast<std::uint8_t>(attribute >> 8);
    at(mad + 17) = static_cast<std::uint8_t>(attribute);
    std::memcpy(&at(mad + 64), data.data(), data.size());
    at(mad + 129) = port_out;
    return frame;
}

void take(HostNames& names, const std::vector<std::uint8_t>& frame) {
    Packet packet;
    decode(frame, packet, Medium::infiniband, frame.size());
    REQUIRE(packet.mad);
    names.take(packet);
}

}  // namespace

TEST_CASE("Host names: lines of a GUID and a name, as the node-name-map has them") {
    const TemporaryFolder folder;
    HostNames names;
    names.read(
        path_of(folder, "# switches\n\n0x0002c90300100001 \"node1 HCA-1\"  # rack 3\n0002:c903:0010:0002 node2\n"));
    CHECK(names.of(guid) == std::string("node1 HCA-1"));
    CHECK(names.of(guid + 1) == std::string("node2"));
    CHECK(names.of(7) == std::string());
    names.add(guid, "another");
    CHECK(names.of(guid) == std::string("node1 HCA-1"));
}

TEST_CASE("Host names: what is wrong with a file is told with its line") {
    const TemporaryFolder folder;
    for (const auto* line : {"node1", "0x12345678123456781 x", "0x1", "0x1 \"\"", "0xzz x"}) {
        HostNames names;
        CHECK_THROWS_WITH(names.read(path_of(folder, std::string("# a\n") + line + '\n')),
                          ContainsSubstring("line 2: "));
    }
    HostNames names;
    CHECK_THROWS_WITH(names.read(path_of(folder, std::string(2000, 'x'))), ContainsSubstring("longer"));
    CHECK_THROWS_WITH(names.read(folder.path() / "none"), ContainsSubstring("cannot be read"));
}

TEST_CASE("Host names: a NodeDescription belongs to the port whose NodeInfo came by the same route") {
    HostNames names;
    std::string info(NodeInfo::size, '\0');
    for (std::size_t i = 0; i < 8; ++i) info[20 + i] = static_cast<char>(guid >> (56 - 8 * i));
    take(names, answer(smp_attribute::node_description, 3, "too early"));
    take(names, answer(smp_attribute::node_info, 3, info));
    take(names, answer(smp_attribute::node_description, 4, "another way"));
    CHECK(names.of(guid) == std::string());
    take(names, answer(smp_attribute::node_description, 3, "node1\x1b mlx5_0"));
    CHECK(names.of(guid) == std::string("node1\\x1b mlx5_0"));
}

TEST_CASE("Host names: records of a table, and never more than are kept") {
    HostNames names;
    constexpr std::size_t stride = 112;
    std::vector<std::uint8_t> records(2 * stride);
    for (std::size_t i = 0; i < 2; ++i) {
        records[stride * i + 4 + 27] = static_cast<std::uint8_t>(i + 1);
        std::memcpy(&records[stride * i + 44], i ? "two" : "one", 3);
    }
    names.take_records(records, stride);
    CHECK(names.of(1) == std::string("one"));
    CHECK(names.of(2) == std::string("two"));
    names.take_records(records, 0);
    names.take_records(Octets{records}.first(50), stride);
    for (std::uint64_t i = 3; i < HostNames::most + 10; ++i) names.add(i, "x");
    CHECK(names.of(HostNames::most + 5) == std::string());
}
