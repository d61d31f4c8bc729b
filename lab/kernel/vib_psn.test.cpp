// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/kernel/vib_pure.hpp"

#include "catch2.hpp"

TEST_CASE("PSN: numbers go round at 24 bits") {
    CHECK(vib_psn_add(0xfffffe, 1) == 0xffffff);
    CHECK(vib_psn_add(0xffffff, 1) == 0);
    CHECK(vib_psn_add(0xfffff0, 0x20) == 0x10);
    CHECK(vib_psn_previous(0) == 0xffffff);
    CHECK(vib_psn_previous(1) == 0);
    CHECK(vib_psn_distance(0xfffffe, 3) == 5);
    CHECK(vib_psn_distance(7, 7) == 0);
}

TEST_CASE("PSN: bits above the 24th are no part of a number") {
    CHECK(vib_psn_add(0x1fffffe, 3) == 1);
    CHECK(vib_psn_distance(0x2000001, 0x7000004) == 3);
    CHECK(vib_psn_compare(0x1000005, 0x3000005) == 0);
}

TEST_CASE("PSN: order holds across the wrap") {
    CHECK(vib_psn_compare(5, 5) == 0);
    CHECK(vib_psn_compare(6, 5) == 1);
    CHECK(vib_psn_compare(5, 6) == -1);
    CHECK(vib_psn_compare(0, 0xffffff) == 1);
    CHECK(vib_psn_compare(0xffffff, 0) == -1);
    CHECK(vib_psn_compare(0x7fffff, 0) == 0x7fffff);
    CHECK(vib_psn_compare(0x800000, 0) < 0);
}

TEST_CASE("PSN: order is antisymmetric all over the circle, its far point aside") {
    for (u32 base : {0x000000U, 0x000001U, 0x7fffffU, 0x800000U, 0xfffffeU, 0xffffffU})
        for (u32 step : {1U, 2U, 63U, 64U, 0x3fffffU, 0x7fffffU}) {
            CHECK(vib_psn_compare(vib_psn_add(base, step), base) == static_cast<int>(step));
            CHECK(vib_psn_compare(base, vib_psn_add(base, step)) == -static_cast<int>(step));
        }
}

TEST_CASE("PSN: a responder tells the expected one from duplicates and from gaps") {
    CHECK(vib_psn_place(10, 10) == VIB_PSN_EXPECTED);
    CHECK(vib_psn_place(9, 10) == VIB_PSN_DUPLICATE);
    CHECK(vib_psn_place(11, 10) == VIB_PSN_AHEAD);
    CHECK(vib_psn_place(0xffffff, 0) == VIB_PSN_DUPLICATE);
    CHECK(vib_psn_place(0, 0xffffff) == VIB_PSN_AHEAD);
}

TEST_CASE("RC: a message of one packet is Only, of more First, Middle, Last") {
    CHECK(vib_part_of(0, 1) == VIB_PART_ONLY);
    CHECK(vib_part_of(0, 2) == VIB_PART_FIRST);
    CHECK(vib_part_of(1, 2) == VIB_PART_LAST);
    CHECK(vib_part_of(0, 3) == VIB_PART_FIRST);
    CHECK(vib_part_of(1, 3) == VIB_PART_MIDDLE);
    CHECK(vib_part_of(2, 3) == VIB_PART_LAST);
}

TEST_CASE("RC: First and Only come between messages, Middle and Last inside one") {
    for (bool is_inside : {false, true}) {
        CHECK(vib_part_follows(VIB_PART_FIRST, is_inside) == !is_inside);
        CHECK(vib_part_follows(VIB_PART_ONLY, is_inside) == !is_inside);
        CHECK(vib_part_follows(VIB_PART_MIDDLE, is_inside) == is_inside);
        CHECK(vib_part_follows(VIB_PART_LAST, is_inside) == is_inside);
    }
}

TEST_CASE("RC: First and Middle fill the MTU, Last has an octet at least, Only may be empty") {
    constexpr u32 mtu = 2048;
    for (auto part : {VIB_PART_FIRST, VIB_PART_MIDDLE}) {
        CHECK(vib_part_length_is_right(part, mtu, mtu));
        CHECK_FALSE(vib_part_length_is_right(part, mtu - 1, mtu));
        CHECK_FALSE(vib_part_length_is_right(part, mtu + 1, mtu));
    }
    CHECK_FALSE(vib_part_length_is_right(VIB_PART_LAST, 0, mtu));
    CHECK(vib_part_length_is_right(VIB_PART_LAST, 1, mtu));
    CHECK(vib_part_length_is_right(VIB_PART_LAST, mtu, mtu));
    CHECK_FALSE(vib_part_length_is_right(VIB_PART_LAST, mtu + 1, mtu));
    CHECK(vib_part_length_is_right(VIB_PART_ONLY, 0, mtu));
    CHECK(vib_part_length_is_right(VIB_PART_ONLY, mtu, mtu));
    CHECK_FALSE(vib_part_length_is_right(VIB_PART_ONLY, mtu + 1, mtu));
}
