// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of PathRecord. IBTA Vol 1, 15.2.5.16.
#include "protocol/wire/path_record.hpp"

#include "protocol/wire/table_check.hpp"

using namespace ipoib::wire;
using namespace ipoib::wire::testing;

TEST_CASE("PathRecord: the record of a real answer reads and writes back") {
    using R = PathRecord;
    // Octets 56 to 119 of the GetResp(PathRecord) in the python-rdma manual, "Structure Pretty Printer".
    const auto golden =
        hex("0000000000000000 fe800000000000000002c90300001491 fe800000000000000002c90300001491 00050005 00000000"
            "0080ffff 00008483 80000000 00000000");
    const auto port = gid("fe800000000000000002c90300001491");
    check_table<R>(golden, row(R::service_id, 0), row(R::dgid, port), row(R::sgid, port), row(R::dlid, 5),
                   row(R::slid, 5), row(R::raw_traffic, false), row(R::reserved3, 0), row(R::flow_label, 0),
                   row(R::hop_limit, 0), row(R::traffic_class, 0), row(R::reversible, true), row(R::number_of_paths, 0),
                   row(R::p_key, 0xffff), row(R::qos_class, 0), row(R::sl, 0), row(R::mtu_selector, 2), row(R::mtu, 4),
                   row(R::rate_selector, 2), row(R::rate, 3), row(R::lifetime_selector, 2), row(R::lifetime, 0),
                   row(R::preference, 0), row(R::reserved48, 0));
}

TEST_CASE("PathRecord: every row has a place of its own") {
    using R = PathRecord;
    // By hand from IBTA Vol 1, 15.2.5.16, table "PathRecord"; Wireshark 4.0 shows the same values but for
    // ServiceID and QoSClass, which are laid out as in ib_types.h of OpenSM.
    const auto golden = hex(
        "0102030405060708 fe800000000000000002c90300001491 fe800000000000000002c90300002491 0005 0009 8123453f 5a 83"
        "8123 1234 84 c7 92 05 060708090a0b");
    check_table<R>(golden, row(R::service_id, 0x0102030405060708),
                   row(R::dgid, gid("fe800000000000000002c90300001491")),
                   row(R::sgid, gid("fe800000000000000002c90300002491")), row(R::dlid, 5), row(R::slid, 9),
                   row(R::raw_traffic, true), row(R::reserved3, 0), row(R::flow_label, 0x12345), row(R::hop_limit, 63),
                   row(R::traffic_class, 0x5a), row(R::reversible, true), row(R::number_of_paths, 3),
                   row(R::p_key, 0x8123), row(R::qos_class, 0x123), row(R::sl, 4), row(R::mtu_selector, 2),
                   row(R::mtu, 4), row(R::rate_selector, 3), row(R::rate, 7), row(R::lifetime_selector, 2),
                   row(R::lifetime, 0x12), row(R::preference, 5), row(R::reserved48, 0x060708090a0b));
}

TEST_CASE("PathRecord: the component mask counts reserved bits and both halves of ServiceID") {
    using R = PathRecord;
    using c = R::component;
    // The python-rdma manual gives 20 for DGID and DLID, and 2072 for SGID, DLID and Reversible.
    CHECK((c::dgid | c::dlid) == 20);
    CHECK((c::sgid | c::dlid | c::reversible) == 2072);
    CHECK(c::service_id == 3);
    CHECK(c::flow_label == 0x100);
    CHECK(c::p_key == 0x2000);
    CHECK(c::lifetime == 0x200000);
}
