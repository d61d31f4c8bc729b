// SPDX-License-Identifier: GPL-2.0-or-later
#include "protocol/wire/mgid.hpp"

#include "catch2.hpp"
#include "protocol/wire/text.hpp"

using namespace ipoib::wire;

namespace {
Gid gid(std::string_view written) { return parse_gid(written).value(); }
}  // namespace

TEST_CASE("MGID: the all-router groups of the example in RFC 4391 section 4") {
    CHECK(mgid_for_ipv4(parse_ipv4("224.0.0.2").value(), 0x8000, 2) == gid("ff12:401b:8000::2"));
    CHECK(mgid_for_ipv6(gid("ff02::2"), 0x8000, 2) == gid("ff12:601b:8000::2"));
}

TEST_CASE("MGID: the limited broadcast maps to the broadcast-GID of RFC 4391 figure 2") {
    CHECK(mgid_for_ipv4(0xffffffff, 0xffff, 2) == gid("ff12:401b:ffff::ffff:ffff"));
    CHECK(broadcast_gid(0x7fff, 5) == gid("ff15:401b:ffff::ffff:ffff"));
    CHECK(is_broadcast_gid(gid("ff12:401b:ffff::ffff:ffff")));
    CHECK_FALSE(is_broadcast_gid(gid("ff12:601b:ffff::ffff:ffff")));
    CHECK_FALSE(is_broadcast_gid(gid("ff12:401b:ffff:1::ffff:ffff")));
    CHECK_FALSE(is_broadcast_gid(gid("ff12:401b:ffff::fff:ffff")));
}

TEST_CASE("MGID: only the low 28 bits of an IPv4 group are mapped, and come back") {
    CHECK(mgid_for_ipv4(parse_ipv4("239.255.1.2").value(), 0xffff, 2) == gid("ff12:401b:ffff::fff:102"));
    for (const auto group : {"224.0.0.1", "239.255.255.255", "232.1.2.3"}) {
        const auto address = parse_ipv4(group).value();
        CHECK(ipv4_group_of(mgid_for_ipv4(address, 0xffff, 2)) == address);
    }
    CHECK_FALSE(ipv4_group_of(gid("ff12:401b:ffff::efff:102")));
    CHECK_FALSE(ipv4_group_of(gid("ff12:401b:ffff::1:0:1")));
    CHECK_FALSE(ipv4_group_of(gid("ff12:601b:ffff::1")));
}

TEST_CASE("MGID: the low 80 bits of an IPv6 group are mapped, its own scope is not") {
    CHECK(mgid_for_ipv6(gid("ff05:0:0:1234:5678:9abc:def0:1"), 0x8123, 2) ==
          gid("ff12:601b:8123:1234:5678:9abc:def0:1"));
    CHECK(mgid_for_ipv6(gid("ff02::2"), 0xffff, 2) == mgid_for_ipv6(gid("ff0e::2"), 0xffff, 2));
}

TEST_CASE("MGID: a P_Key gets the full-membership bit, a P_Key without it is a draft's") {
    CHECK(mgid_of(mgid_for_ipv4(0xe0000001, 0x0123, 2))[Mgid::p_key] == 0x8123);
    CHECK(has_draft_p_key(gid("ff12:401b:0123::1")));
    CHECK_FALSE(has_draft_p_key(gid("ff12:401b:8123::1")));
    CHECK_FALSE(has_draft_p_key(gid("ff12:1234:0123::1")));
}
