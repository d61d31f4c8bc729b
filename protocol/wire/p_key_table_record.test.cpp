// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of P_KeyTableRecord. IBTA Vol 1, 15.2.5.11.
#include "protocol/wire/p_key_table_record.hpp"

#include "protocol/wire/table_check.hpp"

using namespace ipoib::wire;
using namespace ipoib::wire::testing;

TEST_CASE("P_KeyTableRecord: golden octets read and write back") {
    using P = PKeyTableRecord;
    // By hand from IBTA Vol 1, 15.2.5.11; saquery of infiniband-diags 44 shows OpenSM's records with the same values.
    auto golden = hex("0001 0002 03 a1a2a3 ffff 0200 8123");
    golden.resize(P::size);
    OctetArray<64> keys{0xff, 0xff, 0x02, 0x00, 0x81, 0x23};
    check_table<P>(golden, row(P::lid, 1), row(P::block, 2), row(P::port_num, 3), row(P::reserved, 0xa1a2a3),
                   row(P::p_keys, keys));
    const auto record = View<P>::at(golden);
    CHECK(p_key_in(record, 0) == 0xffff);
    CHECK(p_key_in(record, 1) == 0x0200);
    CHECK(p_key_in(record, 2) == 0x8123);
    CHECK(p_key_in(record, P::entries - 1) == 0);
}
