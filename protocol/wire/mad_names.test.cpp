// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of the names that depend on a MAD's class.
#include "protocol/wire/mad_names.hpp"
#include "protocol/wire/text.hpp"

#include "catch2.hpp"

using namespace ipoib::wire;

TEST_CASE("MAD names: one attribute number has another name in each class") {
    CHECK(name_of(attribute_names(MgmtClass::subn_adm), 0x11) == "NodeRecord");
    CHECK(name_of(attribute_names(MgmtClass::subn_lid_routed), 0x11) == "NodeInfo");
    CHECK(name_of(attribute_names(MgmtClass::subn_directed_route), 0x11) == "NodeInfo");
    CHECK(name_of(attribute_names(MgmtClass::communication), 0x11) == "MRA");
    CHECK(name_of(attribute_names(MgmtClass::performance), 0x11).empty());
    CHECK(attribute_names(MgmtClass{0x55}).empty());
}

TEST_CASE("MAD names: a status of the SA has no name in other classes") {
    CHECK(name_of(status_names(MgmtClass::subn_adm), 0x0300) == "ERR_NO_RECORDS");
    CHECK(name_of(status_names(MgmtClass::subn_adm), 0x0008) == "method not supported");
    CHECK(name_of(status_names(MgmtClass::subn_lid_routed), 0x0300).empty());
    CHECK(name_of(status_names(MgmtClass{0x55}), 0x0008) == "method not supported");
}

TEST_CASE("MAD names: a MAD's own class names its status and attribute") {
    Bytes<Mad> mad;
    mad.set(Mad::mgmt_class, MgmtClass::subn_adm).set(Mad::status, 0x0200).set(Mad::attribute_id, 0x0038);
    const auto shown = [&](const FieldSpec& row) {
        return value_text(row, mad.octets.data(), names_of(spec_of<Mad>, row, mad.octets.data()));
    };
    CHECK(shown(Mad::status) == "0x0200 (ERR_REQ_INVALID)");
    CHECK(shown(Mad::attribute_id) == "0x0038 (MCMemberRecord)");
    mad.set(Mad::mgmt_class, MgmtClass::subn_lid_routed);
    CHECK(shown(Mad::status) == "unknown (0x0200)");
    CHECK(shown(Mad::attribute_id) == "unknown (0x0038)");
    mad.set(Mad::mgmt_class, MgmtClass{0x55});
    CHECK(shown(Mad::attribute_id) == "0x0038");
    CHECK(shown(Mad::mgmt_class) == value_text(Mad::mgmt_class, mad.octets.data()));
}
