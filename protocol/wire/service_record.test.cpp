// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of ServiceRecord. IBTA Vol 1, 15.2.5.14.
#include "protocol/wire/service_record.hpp"

#include "protocol/wire/table_check.hpp"

using namespace ipoib::wire;
using namespace ipoib::wire::testing;

TEST_CASE("ServiceRecord: golden octets read and write back") {
    using R = ServiceRecord;
    // By hand from IBTA Vol 1, 15.2.5.14, table "ServiceRecord"; Wireshark 4.0 shows the same values.
    auto golden =
        hex("0100000000123456 fe800000000000000002c90300001491 8001 a1a2 00000e10 000102030405060708090a0b0c0d0e0f"
            "44485350");
    golden.resize(112);
    const auto data =
        hex("101112131415161718191a1b1c1d1e1f 202122232425262728292a2b2c2d2e2f"
            "303132333435363738393a3b3c3d3e3f 404142434445464748494a4b4c4d4e4f");
    golden.insert(golden.end(), data.begin(), data.end());
    check_table<R>(
        golden, row(R::service_id, 0x0100000000123456), row(R::service_gid, gid("fe800000000000000002c90300001491")),
        row(R::service_p_key, 0x8001), row(R::reserved, 0xa1a2), row(R::service_lease, 3600),
        row(R::service_key, octets<16>("000102030405060708090a0b0c0d0e0f")),
        row(R::service_name, octets<64>("44485350")), row(R::data8, octets<16>("101112131415161718191a1b1c1d1e1f")),
        row(R::data16, octets<16>("202122232425262728292a2b2c2d2e2f")),
        row(R::data32, octets<16>("303132333435363738393a3b3c3d3e3f")),
        row(R::data64, octets<16>("404142434445464748494a4b4c4d4e4f")));
}
