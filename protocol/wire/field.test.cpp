// SPDX-License-Identifier: GPL-2.0-or-later
#include "protocol/wire/field.hpp"

#include "protocol/wire/bth.hpp"
#include "protocol/wire/golden.hpp"
#include "protocol/wire/packet.hpp"

using namespace ipoib::wire;

TEST_CASE("A field reads and writes its bits and leaves its neighbours alone") {
    for (unsigned bit = 0; bit < 24; ++bit)
        for (unsigned width = 1; width <= 64; ++width) {
            std::array<std::uint8_t, 12> octets{};
            octets.fill(0xa5);
            const auto before = octets;
            const At at{static_cast<std::uint16_t>(bit)};
            const auto value = std::uint64_t{0x9e3779b97f4a7c15} >> (64 - width);
            write_bits(octets.data(), at, width, value);
            CAPTURE(bit, width);
            REQUIRE(read_bits(octets.data(), at, width) == value);
            for (unsigned other = 0; other < 96; ++other) {
                const At there{static_cast<std::uint16_t>(other)};
                if (other >= bit && other < bit + width) continue;
                REQUIRE(read_bits(octets.data(), there, 1) == read_bits(before.data(), there, 1));
            }
        }
}

TEST_CASE("BTH: DestQP reads 24 bits from octet 5") {
    const auto bth = golden::octets("64 40 ffff 00 123456 00 0020af");
    CHECK(View<Bth>::at(bth)[Bth::dest_qp] == 0x123456);
    CHECK(View<Bth>::at(bth)[Bth::opcode] == Opcode::ud_send_only);
    CHECK(View<Bth>::at(bth)[Bth::migration]);
    CHECK(View<Bth>::at(bth)[Bth::psn] == 0x20af);
}

TEST_CASE("Every header of the golden frames survives a trip through a dirty buffer") {
    const auto request = golden::arp_request();
    const Octets frame{request};
    golden::check_table<Lrh>(frame);
    golden::check_table<Grh>(frame.subspan(8));
    golden::check_table<Mgid>(frame.subspan(32));
    golden::check_table<Bth>(frame.subspan(48));
    golden::check_table<Deth>(frame.subspan(60));
    golden::check_table<Encap>(frame.subspan(68));
    golden::check_table<Arp>(frame.subspan(72));
    golden::check_table<ArpAddresses>(frame.subspan(80));
    golden::check_table<LinkAddress>(frame.subspan(80));
}

TEST_CASE("Headers that the golden frames lack survive a trip through a dirty buffer") {
    // Octets that are all different, so that two rows exchanged would show.
    std::vector<std::uint8_t> octets(64);
    for (std::size_t i = 0; i < octets.size(); ++i) octets[i] = static_cast<std::uint8_t>(0x11 + 7 * i);
    golden::check_table<ImmDt>(octets);
    golden::check_table<Aeth>(octets);
    golden::check_table<Reth>(octets);
    golden::check_table<LinkAddressOption>(octets);
    golden::check_table<Ipv4>(octets);
    golden::check_table<Ipv6>(octets);
    golden::check_table<Udp>(octets);
    golden::check_table<Icmp>(octets);
    golden::check_table<Icmpv6>(octets);
    golden::check_table<NdTarget>(octets);
}

TEST_CASE("An unknown value is kept") {
    Bytes<Encap> encap;
    encap.set(Encap::type, EtherType{0x1234});
    CHECK(encap.octets == std::array<std::uint8_t, 4>{0x12, 0x34, 0, 0});
    CHECK(encap.view()[Encap::type] == EtherType{0x1234});
}
