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

TEST_CASE("MGID: a P_Key with the membership bit is that of a full member") {
    CHECK(is_full_member(0x8123));
    CHECK_FALSE(is_full_member(0x7fff));
}

TEST_CASE("MGID: P_Keys of one partition differ in the membership bit at most") {
    CHECK(is_same_partition(0x8123, 0x8123));
    CHECK(is_same_partition(0x0123, 0x8123));
    CHECK(is_same_partition(0xffff, 0x7fff));
    CHECK_FALSE(is_same_partition(0x8123, 0x8122));
    CHECK_FALSE(is_same_partition(0x8000, 0xc000));
}

TEST_CASE("MGID: scopes are reserved, assigned or neither") {
    for (unsigned scope = 0; scope < 16; ++scope) {
        INFO("scope " << scope);
        CHECK(is_reserved_scope(scope) == (scope == 0 || scope == 15));
        CHECK(is_assigned_scope(scope) == (scope == 2 || scope == 5 || scope == 8 || scope == 14));
    }
}

TEST_CASE("MGID: a signature in the wrong byte order is known") {
    CHECK(is_swapped_signature(0x1b40));
    CHECK(is_swapped_signature(0x1b60));
    for (const auto other : {ipv4_signature, ipv6_signature, std::uint16_t{0x1b41}, std::uint16_t{0}})
        CHECK_FALSE(is_swapped_signature(other));
}

TEST_CASE("MGID: an IPv6 address is solicited by its low 24 bits") {
    // The example of RFC 4291, 2.7.1.
    CHECK(solicited_node_group(gid("4037::01:800:200e:8c6c")) == gid("ff02::1:ff0e:8c6c"));
}
