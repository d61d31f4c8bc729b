// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of ClassPortInfo. IBTA Vol 1, 13.4.8.1.
#include "protocol/wire/class_port_info.hpp"

#include "protocol/wire/table_check.hpp"

using namespace ipoib::wire;
using namespace ipoib::wire::testing;
using C = ClassPortInfo;

TEST_CASE("ClassPortInfo: golden octets read and write back") {
    // By hand from IBTA Vol 1, 13.4.8.1, table "ClassPortInfo"; Wireshark 4.0 shows the same values.
    const auto golden =
        hex("01 02 2602 000200f2 fe800000000000000002c90300000001 5a3abcde 0007 ffff a1000001 80010000"
            "fe800000000000000002c90300000002 6b412345 0008 7fff 3f000123 80010001");
    check_table<C>(golden, row(C::base_version, 1), row(C::class_version, 2), row(C::capability_mask, 0x2602),
                   row(C::capability_mask2, 0x1007), row(C::resp_time_value, 18),
                   row(C::redirect_gid, gid("fe800000000000000002c90300000001")), row(C::redirect_tc, 0x5a),
                   row(C::redirect_sl, 3), row(C::redirect_fl, 0xabcde), row(C::redirect_lid, 7),
                   row(C::redirect_p_key, 0xffff), row(C::reserved8, 0xa1), row(C::redirect_qp, 1),
                   row(C::redirect_q_key, 0x80010000), row(C::trap_gid, gid("fe800000000000000002c90300000002")),
                   row(C::trap_tc, 0x6b), row(C::trap_sl, 4), row(C::trap_fl, 0x12345), row(C::trap_lid, 8),
                   row(C::trap_p_key, 0x7fff), row(C::trap_hl, 63), row(C::trap_qp, 0x123),
                   row(C::trap_q_key, 0x80010001));
    // Of 0x2602 and 0x1007: multicast and the SendOnlyFullMember state.
    const auto view = View<C>::at(golden);
    CHECK((view[C::capability_mask] & C::ud_multicast) != 0);
    CHECK((view[C::capability_mask] & C::optional_records) == 0);
    CHECK((view[C::capability_mask2] & C::send_only_full_member) != 0);
}
