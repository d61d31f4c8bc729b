// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/simulated/switch_attributes.hpp"

#include "catch2.hpp"
#include "fabric/simulated/forwarding_tables.hpp"
#include "fabric/simulated/link_rate.hpp"

namespace ipoib::fabric::simulated {
namespace {

using namespace wire;

TEST_CASE("Multicast forwarding table: the modifier has the block in its low and the position in its high bits") {
    const auto where = MulticastModifier::of(0x5000'01ff);
    CHECK(where.block == 0x1ff);
    CHECK(where.position == 5);
    CHECK(where.value() == 0x5000'01ff);
}

TEST_CASE("Port mask: sixteen ports at a time, all others untouched") {
    PortMask mask;
    mask.set(1);
    mask.set(254);
    CHECK(mask.part(0) == 0x0002);
    CHECK(mask.part(15) == 0x4000);
    mask.set_part(15, 0x0001);
    mask.set_part(4, 0x8001);
    std::vector<unsigned> ports;
    mask.for_each([&](std::uint8_t port) { ports.push_back(port); });
    CHECK(ports == std::vector<unsigned>{1, 64, 79, 240});
    mask.set_part(0, 0);
    CHECK_FALSE(mask.has(1));
    CHECK(PortMask{}.is_empty());
}

TEST_CASE("Forwarding tables: what was never written leads nowhere") {
    const ForwardingTables tables;
    CHECK(tables.port_of(1) == no_port);
    CHECK(tables.port_of(0xffff) == no_port);
    CHECK_FALSE(tables.group(0xc000));
    CHECK_FALSE(tables.group(0xffff));
    CHECK_FALSE(tables.group(0x0001));
    OctetArray<64> data{};
    REQUIRE(tables.read_linear(767, data));
    CHECK(LinearBlock::read(data, 63) == no_port);
    REQUIRE(tables.read_multicast({.block = 511, .position = 15}, data));
    CHECK(MulticastBlock::read(data, 31) == 0);
}

TEST_CASE("Forwarding tables: blocks that no table has are refused") {
    ForwardingTables tables;
    OctetArray<64> data{};
    CHECK_FALSE(tables.write_linear(768, data));
    CHECK_FALSE(tables.write_linear(0xffffffff, data));
    CHECK_FALSE(tables.read_linear(768, data));
    CHECK(tables.write_linear(767, data));
    CHECK(tables.port_of(0xbfff) == 0);
    CHECK(tables.port_of(0xc000) == no_port);
    tables.set_senders(0xbfff, {});
    tables.set_senders(0xffff, {});
    CHECK_FALSE(tables.group(0xc000));
}

TEST_CASE("Forwarding tables: one position of a block leaves the others alone") {
    ForwardingTables tables;
    OctetArray<64> data{};
    MulticastBlock::write(data, 3, 0x0004);
    REQUIRE(tables.write_multicast({.block = 1, .position = 2}, data));
    MulticastBlock::write(data, 3, 0x0010);
    REQUIRE(tables.write_multicast({.block = 1, .position = 0}, data));
    REQUIRE(tables.group(0xc023));
    CHECK(tables.group(0xc023)->to.has(34));
    CHECK(tables.group(0xc023)->to.has(4));
    CHECK(tables.group(0xc022)->to.is_empty());
    REQUIRE(tables.read_multicast({.block = 1, .position = 2}, data));
    CHECK(MulticastBlock::read(data, 3) == 0x0004);
}

TEST_CASE("Link rate: width times speed") {
    const auto rate = [](std::uint8_t width, std::uint8_t speed, std::uint8_t extended) {
        const auto info = Bytes<PortInfo>{}
                              .set(PortInfo::link_width_active, width)
                              .set(PortInfo::link_speed_active, speed)
                              .set(PortInfo::link_speed_ext_active, extended);
        return static_cast<unsigned>(rate_of(info.view()));
    };
    CHECK(rate(1, 1, 0) == 2);   // 2.5 Gb/s
    CHECK(rate(2, 1, 0) == 3);   // 10 Gb/s
    CHECK(rate(2, 4, 0) == 7);   // 40 Gb/s
    CHECK(rate(2, 4, 1) == 12);  // 56 Gb/s
    CHECK(rate(2, 4, 2) == 16);  // 100 Gb/s
    CHECK(rate(8, 4, 2) == 18);  // 300 Gb/s
    CHECK(rate(0, 0, 0) == 3);   // says nothing
    CHECK(rate(32, 7, 0) == 3);
}

}  // namespace
}  // namespace ipoib::fabric::simulated
