// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of the MAD common header. IBTA Vol 1, 13.4.3.
#include "protocol/wire/mad.hpp"

#include "protocol/wire/table_check.hpp"

using namespace ipoib::wire;
using namespace ipoib::wire::testing;

TEST_CASE("MAD: the header of an SA's answer reads and writes back") {
    // GetResp(PathRecord) of a real SA, as the python-rdma manual prints it under "Structure Pretty Printer".
    check_table<Mad>(hex("01030281 00000000 000028d6c1f2bd04 00350000 00000000"), row(Mad::base_version, 1),
                     row(Mad::mgmt_class, MgmtClass::subn_adm), row(Mad::class_version, 2),
                     row(Mad::method, Method::get_resp), row(Mad::status, 0), row(Mad::class_specific, 0),
                     row(Mad::transaction_id, 44902842023172), row(Mad::attribute_id, 53), row(Mad::reserved, 0),
                     row(Mad::attribute_modifier, 0));
}

TEST_CASE("MAD: every row has a place of its own") {
    check_table<Mad>(hex("01810106 801c0203 1122334455667788 00150405 06070809"), row(Mad::base_version, 1),
                     row(Mad::mgmt_class, MgmtClass::subn_directed_route), row(Mad::class_version, 1),
                     row(Mad::method, Method::report), row(Mad::status, 0x801c), row(Mad::class_specific, 0x0203),
                     row(Mad::transaction_id, 0x1122334455667788), row(Mad::attribute_id, 0x15),
                     row(Mad::reserved, 0x0405), row(Mad::attribute_modifier, 0x06070809));
}

TEST_CASE("MAD: a response has the R bit, or is TrapRepress") {
    CHECK(is_response(Method::get_resp));
    CHECK(is_response(Method::report_resp));
    CHECK(is_response(Method::get_table_resp));
    CHECK(is_response(Method::delete_resp));
    CHECK(is_response(Method::trap_repress));
    CHECK_FALSE(is_response(Method::get));
    CHECK_FALSE(is_response(Method::report));
    CHECK_FALSE(is_response(Method::trap));
    CHECK(is_response(Method{0xff}));
    CHECK_FALSE(is_response(Method{0x7f}));
}

TEST_CASE("MAD: a response's method is its request's with the R bit") {
    const auto answers = [](Method request, Method response) {
        return (static_cast<unsigned>(request) | 0x80) == static_cast<unsigned>(response);
    };
    CHECK(answers(Method::get, Method::get_resp));
    CHECK(answers(Method::report, Method::report_resp));
    CHECK(answers(Method::get_table, Method::get_table_resp));
    CHECK(answers(Method::get_multi, Method::get_multi_resp));
    CHECK(answers(Method::del, Method::delete_resp));
}
