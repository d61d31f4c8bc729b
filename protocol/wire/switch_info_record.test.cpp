// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of SwitchInfo and SwitchInfoRecord. IBTA Vol 1, 14.2.5.4 and 15.2.5.4.
#include "protocol/wire/switch_info_record.hpp"

#include "protocol/wire/table_check.hpp"

using namespace ipoib::wire;
using namespace ipoib::wire::testing;

namespace {

/// With the values that `smpquery switchinfo` shows in its manual's example, at the places where infiniband-diags
/// reads them.
const auto switch_info_octets = golden::octets("c000 0000 1000 0008 00ff ff 91 0000 0020 f0 00 bfff");

}  // namespace

TEST_CASE("SwitchInfo: the table reads and writes golden octets") {
    golden::check_table<SwitchInfo>(switch_info_octets);
    const auto info = View<SwitchInfo>::at(switch_info_octets);
    CHECK(info[SwitchInfo::linear_cap] == 49152);
    CHECK(info[SwitchInfo::multicast_cap] == 4096);
    CHECK(info[SwitchInfo::linear_top] == 8);
    CHECK(info[SwitchInfo::primary_port] == 255);
    CHECK(info[SwitchInfo::other_port] == 255);
    CHECK(info[SwitchInfo::life_time] == 18);
    CHECK_FALSE(info[SwitchInfo::port_state_change]);
    CHECK(info[SwitchInfo::optimized_sl_to_vl] == 1);
    CHECK(info[SwitchInfo::enforcement_cap] == 32);
    CHECK(info[SwitchInfo::inbound_cap]);
    CHECK_FALSE(info[SwitchInfo::enhanced_port_0]);
    CHECK(info[SwitchInfo::multicast_top] == 0xbfff);
}

TEST_CASE("SwitchInfoRecord: golden octets read and write back") {
    using S = SwitchInfoRecord;
    // By hand from IBTA Vol 1, 14.2.5.4, as ib_switch_info_record_t of OpenSM's ib_types.h has it.
    auto golden = hex("0002 a1a2 c000 0000 4000 0011");
    golden.resize(S::size);
    check_table<S>(golden, row(S::lid, 2), row(S::reserved, 0xa1a2),
                   row(S::switch_info, testing::octets<SwitchInfo::size>("c000 0000 4000 0011")));
    CHECK(switch_info(View<S>::at(golden))[SwitchInfo::multicast_cap] == 0x4000);
    CHECK_FALSE(switch_info({}));
}
