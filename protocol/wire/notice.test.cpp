// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of Notice and of the details of its traps. IBTA Vol 1, 13.4.8.2 and 14.2.5.1.
#include "protocol/wire/notice.hpp"

#include "protocol/wire/table_check.hpp"

using namespace ipoib::wire;
using namespace ipoib::wire::testing;

namespace {

/// A notice of the SA that a multicast group was created.
std::vector<std::uint8_t> group_created() {
    // By hand from IBTA Vol 1, 13.4.8.2, table "Notice", and 14.2.5.1; Wireshark 4.0 shows the same values.
    auto notice =
        hex("84 000004 0042 0001 8123 a1a2a3a4a5a6 ff12401bffff00000000000000000005"
            "0000000000000000000000000000000000000000000000000000000000000000 fe800000000000000002c90300000001");
    REQUIRE(notice.size() == Notice::size);
    return notice;
}

}  // namespace

TEST_CASE("Notice: golden octets read and write back") {
    check_table<Notice>(group_created(), row(Notice::is_generic, true), row(Notice::type, 4),
                        row(Notice::producer_type, 4), row(Notice::trap_number, trap::multicast_group_created),
                        row(Notice::issuer_lid, 1), row(Notice::toggle, true), row(Notice::count, 0x123),
                        row(Notice::data_details, octets<54>("a1a2a3a4a5a6 ff12401bffff00000000000000000005")),
                        row(Notice::issuer_gid, gid("fe800000000000000002c90300000001")));
}

TEST_CASE("Notice: the details of a GID trap read and write back") {
    std::vector<std::uint8_t> golden(54);
    const auto head = hex("a1a2a3a4a5a6 ff12401bffff00000000000000000005");
    std::copy(head.begin(), head.end(), golden.begin());
    golden.back() = 0xb1;
    OctetArray<32> reserved{};
    reserved.back() = 0xb1;
    check_table<GidDetails>(golden, row(GidDetails::reserved48, 0xa1a2a3a4a5a6),
                            row(GidDetails::gid, gid("ff12401bffff00000000000000000005")),
                            row(GidDetails::reserved256, reserved));
}

TEST_CASE("Notice: the details of a LID trap read and write back") {
    std::vector<std::uint8_t> golden(54);
    golden[0] = 0x12, golden[1] = 0x34, golden[53] = 0xb1;
    OctetArray<52> reserved{};
    reserved.back() = 0xb1;
    check_table<LidDetails>(golden, row(LidDetails::lid, 0x1234), row(LidDetails::reserved416, reserved));
}

TEST_CASE("Notice: traps 64 to 67 have a GID, trap 128 a LID, others neither") {
    auto octets = group_created();
    const auto notice = View<Notice>::at(octets);
    for (unsigned number = 0; number <= 0xffff; ++number) {
        set_field(octets, Notice::trap_number, static_cast<std::uint16_t>(number));
        if (static_cast<bool>(gid_details(notice)) != (number >= 64 && number <= 67)) FAIL("trap " << number);
        if (static_cast<bool>(lid_details(notice)) != (number == 128)) FAIL("trap " << number);
    }
    set_field(octets, Notice::trap_number, trap::multicast_group_deleted);
    CHECK(gid_details(notice)[GidDetails::gid] == gid("ff12401bffff00000000000000000005"));
    set_field(octets, Notice::trap_number, trap::link_state_changed);
    CHECK(lid_details(notice)[LidDetails::lid] == 0xa1a2);

    set_field(octets, Notice::is_generic, false);
    CHECK_FALSE(lid_details(notice));
    set_field(octets, Notice::trap_number, trap::multicast_group_deleted);
    CHECK_FALSE(gid_details(notice));
    CHECK_FALSE(gid_details(View<Notice>{}));
    CHECK_FALSE(lid_details(View<Notice>{}));
}

TEST_CASE("Notice: the details of traps of bad keys read and write back") {
    // By hand from IBTA Vol 1, 14.2.5.1.
    const auto key = hex(
        "e1e2 0004 0007 00000b1b 3f 000048 e3 000049 fe800000000000000002c90300100001 fe800000000000000002c90300100002 "
        "e4e5e6e7");
    check_table<KeyDetails>(key, row(KeyDetails::reserved16, 0xe1e2), row(KeyDetails::source_lid, 4),
                            row(KeyDetails::destination_lid, 7), row(KeyDetails::bad_key, 0xb1b),
                            row(KeyDetails::sl, 3), row(KeyDetails::reserved4, 0xf), row(KeyDetails::source_qpn, 0x48),
                            row(KeyDetails::reserved8, 0xe3), row(KeyDetails::destination_qpn, 0x49),
                            row(KeyDetails::source_gid, gid("fe800000000000000002c90300100001")),
                            row(KeyDetails::destination_gid, gid("fe800000000000000002c90300100002")),
                            row(KeyDetails::reserved32, 0xe4e5e6e7));
    const auto at_switch =
        hex("003f 0004 0007 8005 3f 000048 e3 000049 fe800000000000000002c90300100001 fe800000000000000002c90300100002 "
            "0002 "
            "11 e4e5e6");
    check_table<SwitchKeyDetails>(at_switch, row(SwitchKeyDetails::data_valid, 0x3f),
                                  row(SwitchKeyDetails::source_lid, 4), row(SwitchKeyDetails::destination_lid, 7),
                                  row(SwitchKeyDetails::p_key, 0x8005), row(SwitchKeyDetails::sl, 3),
                                  row(SwitchKeyDetails::reserved4, 0xf), row(SwitchKeyDetails::source_qpn, 0x48),
                                  row(SwitchKeyDetails::reserved8, 0xe3), row(SwitchKeyDetails::destination_qpn, 0x49),
                                  row(SwitchKeyDetails::source_gid, gid("fe800000000000000002c90300100001")),
                                  row(SwitchKeyDetails::destination_gid, gid("fe800000000000000002c90300100002")),
                                  row(SwitchKeyDetails::switch_lid, 2), row(SwitchKeyDetails::switch_port, 0x11),
                                  row(SwitchKeyDetails::reserved24, 0xe4e5e6));
}
