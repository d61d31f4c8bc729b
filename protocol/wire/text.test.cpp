// SPDX-License-Identifier: GPL-2.0-or-later
#include "protocol/wire/text.hpp"

#include "catch2.hpp"
#include "protocol/wire/bth.hpp"
#include "protocol/wire/encap.hpp"
#include "protocol/wire/mgid.hpp"

using namespace ipoib::wire;

TEST_CASE("Text: GIDs are written and read by RFC 5952") {
    for (const auto written : {"ff12:401b:ffff::ffff:ffff", "fe80::2:c902:24:f636", "::", "::1", "::ffff:a01:203"})
        CHECK(text(parse_gid(written).value()) == written);
    CHECK_FALSE(parse_gid("fe80:::1"));
    CHECK_FALSE(parse_gid("10.0.0.1"));
}

TEST_CASE("Text: a value has its name, or is unknown") {
    CHECK(value_text(Bth::opcode, Bytes<Bth>{}.set(Bth::opcode, Opcode::ud_send_only).octets.data()) ==
          "0x64 (UD SEND Only)");
    CHECK(value_text(Encap::type, Bytes<Encap>{}.set(Encap::type, EtherType{0x1234}).octets.data()) ==
          "unknown (0x1234)");
    CHECK(value_text(Encap::reserved, Bytes<Encap>{}.set(Encap::reserved, 0xabcd).octets.data()) == "0xabcd");
    CHECK(value_text(Mgid::group_low, Bytes<Mgid>{}.set(Mgid::group_low, 1).octets.data()) == "0x0000000000000001");
}

TEST_CASE("Text: octets in hex may be separated, and half an octet is refused") {
    CHECK(parse_octets("00 a5-Ff:10\n") == std::vector<std::uint8_t>{0x00, 0xa5, 0xff, 0x10});
    CHECK_FALSE(parse_octets("0 0"));
    CHECK(parse_number("10") == 10);
    CHECK(parse_number("0x10") == 16);
    CHECK(parse_number("0XfF") == 255);
    CHECK(parse_number("18446744073709551615") == ~std::uint64_t{0});
    for (const auto* none : {"", "0x", "10 ", " 10", "-1", "0xg", "18446744073709551616", "1e3"})
        CHECK_FALSE(parse_number(none));
    CHECK_FALSE(parse_octets("000"));
    CHECK_FALSE(parse_octets("zz"));
    CHECK(hex_octets(std::vector<std::uint8_t>{1, 2, 3}, 2) == "0102...");
}
