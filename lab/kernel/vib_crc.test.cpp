// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/kernel/vib_pure.hpp"
#include "protocol/wire/crc.hpp"
#include "protocol/wire/golden.hpp"

#include <random>

namespace {

using namespace ipoib;

struct Parsed {
    explicit Parsed(const std::vector<std::uint8_t>& octets)
        : fault(vib_frame_parse(&frame, octets.data(), octets.size())) {
        if (fault == VIB_FRAME_GOOD) fault = vib_frame_check(&frame, octets.data(), octets.size());
    }
    vib_frame frame{};
    vib_fault_of_frame fault;
};

TEST_CASE("Kernel CRCs: those of frames of a real fabric are right") {
    CHECK(Parsed{wire::golden::arp_request()}.fault == VIB_FRAME_GOOD);
    CHECK(Parsed{wire::golden::arp_reply()}.fault == VIB_FRAME_GOOD);
}

TEST_CASE("Kernel CRCs: sealing writes those of the real fabric again") {
    for (const auto& golden : {wire::golden::arp_request(), wire::golden::arp_reply()}) {
        auto frame = golden;
        std::fill(frame.end() - VIB_CRC_SIZE, frame.end(), std::uint8_t{0});
        CHECK(vib_frame_is_unsealed(frame.data(), frame.size()));
        vib_frame_seal(frame.data(), frame.size());
        CHECK_FALSE(vib_frame_is_unsealed(frame.data(), frame.size()));
        CHECK(frame == golden);
    }
}

TEST_CASE("Kernel CRCs: are those of the protocol library for octets of every length") {
    std::mt19937 random{1};
    for (std::size_t length = 0; length < 300; ++length) {
        std::vector<std::uint8_t> octets(length);
        for (auto& octet : octets) octet = static_cast<std::uint8_t>(random());
        CAPTURE(length);
        for (const unsigned lnh : {0u, 2u, 3u}) {
            if (length > 1) octets[1] = static_cast<std::uint8_t>((octets[1] & 0xfcu) | lnh);
            REQUIRE(vib_icrc(octets.data(), length) == wire::icrc(octets));
            REQUIRE(vib_vcrc(octets.data(), length) == wire::vcrc(octets));
        }
    }
}

TEST_CASE("Kernel CRCs: every wrong bit behind the LRH is found") {
    const auto golden = wire::golden::arp_request();
    for (std::size_t bit = std::size_t{VIB_LRH_SIZE} * 8; bit < golden.size() * 8; ++bit) {
        auto frame = golden;
        frame[bit / 8] = static_cast<std::uint8_t>(frame[bit / 8] ^ 1u << bit % 8);
        CAPTURE(bit);
        REQUIRE(Parsed{frame}.fault != VIB_FRAME_GOOD);
        vib_frame_seal_link(frame.data(), frame.size());
        const Parsed sealed{frame};
        // What changes on the way is not under the ICRC, and what the VCRC held is made anew.
        const bool is_variant =
            sealed.fault == VIB_FRAME_GOOD && (bit / 8 == 8 || bit / 8 == 9 || bit / 8 == 10 || bit / 8 == 11 ||
                                               bit / 8 == 15 || bit / 8 == 52 || bit / 8 >= golden.size() - 2);
        REQUIRE((is_variant || sealed.fault != VIB_FRAME_GOOD));
    }
}

TEST_CASE("Kernel CRCs: a wrong ICRC under a right VCRC has its own name") {
    auto frame = wire::golden::arp_reply();
    frame[40] = static_cast<std::uint8_t>(frame[40] ^ 1);
    CHECK(Parsed{frame}.fault == VIB_FRAME_BAD_VCRC);
    vib_frame_seal_link(frame.data(), frame.size());
    CHECK(Parsed{frame}.fault == VIB_FRAME_BAD_ICRC);
}

TEST_CASE("Kernel CRCs: what is too short for them is left alone") {
    for (std::size_t length = 0; length < VIB_CRC_SIZE; ++length) {
        std::vector<std::uint8_t> octets(length + 1, 0xa5);
        const auto before = octets;
        vib_frame_seal(octets.data(), length);
        CHECK(octets == before);
        CHECK_FALSE(vib_frame_is_unsealed(octets.data(), length));
    }
    std::vector<std::uint8_t> crcs(VIB_CRC_SIZE, 0);
    CHECK(vib_frame_is_unsealed(crcs.data(), crcs.size()));
}

}  // namespace
