// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of LinkRecord. IBTA Vol 1, 15.2.5.13.
#include "protocol/wire/link_record.hpp"

#include "protocol/wire/table_check.hpp"

using namespace ipoib::wire;
using namespace ipoib::wire::testing;

TEST_CASE("LinkRecord: golden octets read and write back") {
    using L = LinkRecord;
    // By hand from IBTA Vol 1, 15.2.5.13, as ib_link_record_t of OpenSM's ib_types.h has it.
    const auto golden = hex("0003 01 11 0002 a1a2");
    check_table<L>(golden, row(L::from_lid, 3), row(L::from_port, 1), row(L::to_port, 0x11), row(L::to_lid, 2),
                   row(L::reserved, 0xa1a2));
}
