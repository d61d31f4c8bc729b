// SPDX-License-Identifier: GPL-2.0-or-later
#include "protocol/wire/crc.hpp"

#include "protocol/wire/golden.hpp"
#include "protocol/wire/grh.hpp"
#include "protocol/wire/lrh.hpp"

using namespace ipoib::wire;

namespace {

CrcResult checked(Octets frame) { return check_crcs(frame, detect_tail(frame)); }

}  // namespace

TEST_CASE("CRCs: both are right in the golden frames, with and without a GRH") {
    for (const auto& frame : {golden::arp_request(), golden::arp_reply()}) {
        CHECK(detect_tail(frame) == Tail::both);
        CHECK(checked(frame).icrc == Check::good);
        CHECK(checked(frame).vcrc == Check::good);
    }
}

TEST_CASE("CRCs: what write_crcs writes into a dirty tail is what the real fabric wrote") {
    for (const auto& golden : {golden::arp_request(), golden::arp_reply()}) {
        auto frame = golden;
        std::fill(frame.end() - 6, frame.end(), std::uint8_t{0xa5});
        write_crcs(frame);
        CHECK(frame == golden);
    }
}

TEST_CASE("CRCs: every flipped bit is found by the VCRC, and by the ICRC outside of the variant fields") {
    for (const auto& golden : {golden::arp_request(), golden::arp_reply()}) {
        const bool global = View<Lrh>::at(golden)[Lrh::lnh] == Lnh::global;
        for (std::size_t bit = 0; bit < golden.size() * 8; ++bit) {
            auto frame = golden;
            frame[bit / 8] = static_cast<std::uint8_t>(frame[bit / 8] ^ 0x80 >> bit % 8);
            const bool is_length = bit >= 37 && bit < 48;
            const bool is_lnh = bit == 14 || bit == 15;
            if (is_length || is_lnh) continue;  // these move the tail or change which fields are masked
            CAPTURE(bit, global);
            CHECK(checked(frame).vcrc == Check::bad);
            const std::size_t bth = global ? 48 : 8;
            const bool is_variant = (global ? bit < 64 : bit < 4) ||
                                    (global && ((bit >= 68 && bit < 96) || (bit >= 120 && bit < 128))) ||
                                    (bit >= (bth + 4) * 8 && bit < (bth + 5) * 8);
            const bool is_in_vcrc = bit >= (golden.size() - 2) * 8;
            CHECK(checked(frame).icrc == (is_variant || is_in_vcrc ? Check::good : Check::bad));
        }
    }
}

TEST_CASE("CRCs: the tail is detected by PktLen") {
    const auto frame = golden::arp_reply();
    const Octets octets{frame};
    CHECK(detect_tail(octets) == Tail::both);
    CHECK(detect_tail(octets.first(frame.size() - 1)) == Tail::icrc);
    CHECK(detect_tail(octets.first(frame.size() - 2)) == Tail::icrc);
    CHECK(detect_tail(octets.first(frame.size() - 6)) == Tail::none);
    CHECK(detect_tail(octets.first(frame.size() - 7)) == Tail::truncated);
    CHECK(detect_tail(octets.first(frame.size() - 3)) == Tail::truncated);
    CHECK(checked(octets.first(frame.size() - 2)).vcrc == Check::absent);
    CHECK(checked(octets.first(frame.size() - 2)).icrc == Check::good);
    CHECK(checked(octets.first(frame.size() - 6)).icrc == Check::absent);
}

TEST_CASE("CRCs: a tail of zeros was not filled in, which is no error") {
    auto frame = golden::arp_reply();
    std::fill(frame.end() - 6, frame.end(), std::uint8_t{0});
    CHECK(checked(frame).icrc == Check::absent);
    CHECK(checked(frame).vcrc == Check::absent);
}

TEST_CASE("CRCs: a VCRC may be zero by right") {
    auto frame = golden::arp_reply();
    const std::size_t at_vcrc = frame.size() - vcrc_size, last = at_vcrc - icrc_size - 1;
    for (unsigned i = 0; i < 1u << 20 && (frame[at_vcrc] != 0 || frame[at_vcrc + 1] != 0); ++i) {
        for (std::size_t k = 0; k < 3; ++k) frame[last - k] = static_cast<std::uint8_t>(i >> 8 * k);
        write_crcs(frame);
    }
    REQUIRE(vcrc(Octets{frame}.first(at_vcrc)) == 0);
    CHECK(checked(frame).icrc == Check::good);
    CHECK(checked(frame).vcrc == Check::good);
    frame[last] ^= 1;
    CHECK(checked(frame).icrc == Check::bad);
    CHECK(checked(frame).vcrc == Check::absent);
}

TEST_CASE("CRCs: a PktLen of zero or beyond the frame is no crash") {
    for (const unsigned length : {0u, 1u, 2u, 3u, 0x7ffu}) {
        auto frame = golden::arp_reply();
        set_field(frame, Lrh::packet_length, static_cast<std::uint16_t>(length));
        CAPTURE(length);
        CHECK(checked(frame).icrc != Check::good);
    }
}

TEST_CASE("CRCs: the VCRC is that of a bit-by-bit division, for every length") {
    std::vector<std::uint8_t> octets(300);
    for (std::size_t i = 0; i < octets.size(); ++i) octets[i] = static_cast<std::uint8_t>(i * 37 + 11);
    unsigned remainder = 0xffff;  // IBTA Vol 1, 7.8.2: initial value all ones, result inverted
    for (std::size_t length = 0; length <= octets.size(); ++length) {
        CAPTURE(length);
        CHECK(vcrc(Octets{octets}.first(length)) == (~remainder & 0xffff));
        if (length == octets.size()) break;
        remainder ^= octets[length];
        for (int bit = 0; bit < 8; ++bit) remainder = remainder >> 1 ^ (remainder & 1 ? 0xd008u : 0u);
    }
}
