// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of SwitchInfoRecord. IBTA Vol 1, 14.2.5.4 and 15.2.5.4.
#include "protocol/wire/switch_info_record.hpp"

#include "protocol/wire/table_check.hpp"

using namespace ipoib::wire;
using namespace ipoib::wire::testing;

TEST_CASE("SwitchInfoRecord: golden octets read and write back") {
    using S = SwitchInfoRecord;
    // By hand from IBTA Vol 1, 14.2.5.4, as ib_switch_info_record_t of OpenSM's ib_types.h has it.
    auto golden = hex("0002 a1a2 c000 0000 4000 0011");
    golden.resize(S::size);
    OctetArray<14> rest{0x00, 0x11};
    check_table<S>(golden, row(S::lid, 2), row(S::reserved, 0xa1a2), row(S::linear_cap, 0xc000), row(S::random_cap, 0),
                   row(S::multicast_cap, 0x4000), row(S::rest, rest));
}
