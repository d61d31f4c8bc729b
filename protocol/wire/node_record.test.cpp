// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of NodeInfo and NodeRecord. IBTA Vol 1, 14.2.5.3 and 15.2.5.2.
#include "protocol/wire/node_record.hpp"

#include "protocol/wire/table_check.hpp"

using namespace ipoib::wire;
using namespace ipoib::wire::testing;

namespace {

// By hand from IBTA Vol 1, 14.2.5.3, table "NodeInfo"; Wireshark 4.0 shows the same values.
constexpr std::string_view node_info_golden =
    "01 02 03 04 0002c90300001493 0002c90300001490 0002c90300001491 0080 1003 000000b0 02 0002c9";

}  // namespace

TEST_CASE("NodeInfo: golden octets read and write back") {
    using N = NodeInfo;
    check_table<N>(hex(node_info_golden), row(N::base_version, 1), row(N::class_version, 2),
                   row(N::node_type, N::router), row(N::num_ports, 4), row(N::system_image_guid, 0x0002c90300001493),
                   row(N::node_guid, 0x0002c90300001490), row(N::port_guid, 0x0002c90300001491),
                   row(N::partition_cap, 128), row(N::device_id, 0x1003), row(N::revision, 0xb0),
                   row(N::local_port_num, 2), row(N::vendor_id, 0x0002c9));
}

TEST_CASE("NodeRecord: golden octets read and write back") {
    auto golden = hex("0005 a1a2");
    const auto info = hex(node_info_golden);
    golden.insert(golden.end(), info.begin(), info.end());
    const std::string_view description = "node-1 HCA-1";
    golden.insert(golden.end(), description.begin(), description.end());
    golden.resize(NodeRecord::size);
    OctetArray<64> text{};
    std::copy(description.begin(), description.end(), text.begin());
    check_table<NodeRecord>(golden, row(NodeRecord::lid, 5), row(NodeRecord::reserved, 0xa1a2),
                            row(NodeRecord::node_info, octets<40>(node_info_golden)),
                            row(NodeRecord::node_description, text));

    const auto inside = node_info(View<NodeRecord>::at(golden));
    REQUIRE(inside);
    CHECK(inside[NodeInfo::port_guid] == 0x0002c90300001491);
    CHECK_FALSE(node_info(View<NodeRecord>{}));
}
