// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of InformInfo. IBTA Vol 1, 13.4.8.3.
#include "protocol/wire/inform_info.hpp"

#include "protocol/wire/table_check.hpp"

using namespace ipoib::wire;
using namespace ipoib::wire::testing;
using I = InformInfo;

TEST_CASE("InformInfo: golden octets read and write back") {
    // By hand from IBTA Vol 1, 13.4.8.3, table "InformInfo"; Wireshark 4.0 shows the same values.
    check_table<I>(hex("ff12401bffff00000000000000000005 ffff 0203 0405 01 01 ffff 0042 123456 12 a1 000004"),
                   row(I::gid, gid("ff12401bffff00000000000000000005")), row(I::lid_range_begin, I::all),
                   row(I::lid_range_end, 0x0203), row(I::reserved16, 0x0405), row(I::is_generic, 1),
                   row(I::subscribe, 1), row(I::type, I::all), row(I::trap_number, trap::multicast_group_created),
                   row(I::qpn, 0x123456), row(I::reserved3, 0), row(I::resp_time_value, 18), row(I::reserved8, 0xa1),
                   row(I::producer_type, 4));
}
