// SPDX-License-Identifier: GPL-2.0-or-later
// Checksums by their differences. RFC 1624; CRCs are linear in the octets that they cover.
#include "protocol/build/frame_template.hpp"

namespace ipoib::build {
using namespace wire;

namespace {

constexpr std::size_t tail = icrc_size + vcrc_size;

/// Both CRCs of what the frame is, as a table has them.
std::uint64_t crcs(std::vector<std::uint8_t>& frame) {
    write_crcs(frame);
    const auto* at = frame.data() + frame.size() - tail;
    std::uint64_t both = 0;
    for (unsigned i = 0; i < tail; ++i) both |= std::uint64_t{at[i]} << 8 * i;
    return both;
}

std::uint32_t folded(std::uint32_t sum) noexcept {
    while (sum >> 16) sum = (sum & 0xffff) + (sum >> 16);
    return sum;
}

}  // namespace

FrameTemplate::FrameTemplate(const PacketBuilder& packet, std::size_t at, Tables& tables) : frame_(packet.build()) {
    Packet decoded;
    decode(frame_, decoded);
    const auto at_udp = static_cast<std::size_t>(decoded.udp.octets().data() - frame_.data());
    at_checksum_ = at_udp + Udp::checksum.at.bit / 8;
    at_ = at_udp + Udp::size + at;
    at_psn_ = static_cast<std::size_t>(decoded.bth.octets().data() - frame_.data()) + Bth::psn.at.bit / 8;
    psn_ = decoded.bth[Bth::psn];
    for (std::size_t i = 0; i < changeable; ++i) value_ = value_ << 8 | frame_[at_ + i];
    sum_ = folded(0xffffu ^ decoded.udp[Udp::checksum]);
    if (sum_ == 0) sum_ = 0xffff;
    auto& table = tables[{frame_.size(), at_, at_psn_}];
    if (!table) table = effects();
    effects_ = table;
}

std::shared_ptr<const FrameTemplate::Effects> FrameTemplate::effects() const {
    auto table = std::make_shared<Effects>();
    auto frame = frame_;
    const auto before = crcs(frame);
    for (std::size_t place = 0; place < table->size(); ++place) {
        auto& of_place = (*table)[place];
        for (unsigned bit = 0; bit < 8; ++bit) {
            const auto one = static_cast<std::uint8_t>(1u << bit);
            frame[offset(place)] ^= one;
            of_place[one] = crcs(frame) ^ before;
            frame[offset(place)] ^= one;
            for (unsigned rest = 1; rest < one; ++rest) of_place[one | rest] = of_place[one] ^ of_place[rest];
        }
    }
    return table;
}

void FrameTemplate::change(std::size_t place, std::uint8_t difference) noexcept {
    auto& octet = frame_[offset(place)];
    octet = static_cast<std::uint8_t>(octet ^ difference);
    crc_changes_ ^= (*effects_)[place][difference];
}

void FrameTemplate::change_value(std::uint64_t value) noexcept {
    auto differences = value ^ value_;
    if (differences == 0) return;
    constexpr unsigned pair = 0xffff;
    // The sum counts pairs of octets: less what they were, which is their complement, more what they are.
    for (unsigned shift = 0; shift < 64 && differences >> shift; shift += 16)
        sum_ +=
            static_cast<std::uint32_t>(~(value_ >> shift) & pair) + static_cast<std::uint32_t>(value >> shift & pair);
    sum_ = folded(sum_);
    value_ = value;
    for (std::size_t place = changeable; place-- > 0 && differences; differences >>= 8)
        if (const auto difference = static_cast<std::uint8_t>(differences)) change(place, difference);
    // Zero would say that there is no checksum. RFC 768.
    const auto checksum = sum_ == pair ? pair : ~sum_ & pair;
    const unsigned old = static_cast<unsigned>(frame_[at_checksum_] << 8 | frame_[at_checksum_ + 1]);
    change(changeable, static_cast<std::uint8_t>((old ^ checksum) >> 8));
    change(changeable + 1, static_cast<std::uint8_t>(old ^ checksum));
}

void FrameTemplate::set(std::uint64_t value, std::uint32_t psn) noexcept {
    change_value(value);
    auto differences = psn ^ psn_;
    psn_ = psn;
    for (std::size_t place = at_psn + psn_size; place-- > at_psn && differences; differences >>= 8)
        if (const auto difference = static_cast<std::uint8_t>(differences)) change(place, difference);
    for (auto* at = frame_.data() + frame_.size() - tail; crc_changes_; crc_changes_ >>= 8, ++at)
        *at = static_cast<std::uint8_t>(*at ^ crc_changes_);
}

}  // namespace ipoib::build
