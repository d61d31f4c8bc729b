// SPDX-License-Identifier: GPL-2.0-or-later
// pcap: draft-ietf-opsawg-pcap. ERF: Endace's "Extensible Record Format", types and extension headers.
#include "lab/guest/port/framing.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace ipoib::lab {
namespace {

constexpr std::size_t length_size = 2;

std::size_t big_endian_16(OctetsView octets) { return static_cast<std::size_t>(octets[0] << 8 | octets[1]); }

}  // namespace

void Buffer::use(std::size_t count) {
    constexpr std::size_t worth_moving = 65536;
    used_ += std::min(count, size());
    if (size() != 0 && used_ < worth_moving) return;
    octets_.erase(octets_.begin(), octets_.begin() + static_cast<std::ptrdiff_t>(used_));
    used_ = 0;
}

void write_frame(Buffer& to, OctetsView frame) {
    const std::array<std::uint8_t, length_size> length{static_cast<std::uint8_t>(frame.size() >> 8),
                                                       static_cast<std::uint8_t>(frame.size())};
    to.add(length);
    to.add(frame);
}

std::optional<OctetsView> FrameReader::next() {
    if (is_broken_ || buffer_.size() < length_size) return {};
    const auto length = big_endian_16(buffer_.view());
    is_broken_ = length != 0 && (length < shortest_frame || length > longest_frame);
    if (is_broken_ || buffer_.size() < length_size + length) return {};
    return buffer_.view().subspan(length_size, length);
}

void FrameReader::used() { buffer_.use(length_size + big_endian_16(buffer_.view())); }

std::uint32_t CaptureReader::number(std::size_t at) const {
    std::uint32_t value = 0;
    std::memcpy(&value, buffer_.view().data() + at, sizeof value);
    return is_swapped_ ? __builtin_bswap32(value) : value;
}

bool CaptureReader::read_head() {
    constexpr std::size_t head_size = 24, link_type_at = 20;
    constexpr std::uint32_t microseconds = 0xa1b2c3d4, nanoseconds = 0xa1b23c4d, erf = 197, link_type_bits = 0xfffffff;
    if (has_head_ || buffer_.size() < head_size) return has_head_;
    const auto is_magic = [](std::uint32_t value) { return value == microseconds || value == nanoseconds; };
    is_swapped_ = !is_magic(number(0));
    if (!is_magic(number(0))) {
        error_ = "no pcap stream";
    } else if ((number(link_type_at) & link_type_bits) != erf) {
        error_ = "link type " + std::to_string(number(link_type_at)) + " is not ERF";
    } else {
        has_head_ = true;
        buffer_.use(head_size);
    }
    return has_head_;
}

std::optional<Octets> CaptureReader::next() {
    constexpr std::size_t record_head = 16, captured_at = 8, longest_record = 65536;
    while (error_.empty() && read_head() && buffer_.size() >= record_head) {
        const std::size_t captured = number(captured_at);
        if (captured > longest_record) {
            error_ = "a record of " + std::to_string(captured) + " octets";
            break;
        }
        if (buffer_.size() < record_head + captured) break;
        const auto frame = frame_in_erf(buffer_.view().subspan(record_head, captured));
        auto copy = frame ? std::optional(Octets(frame->begin(), frame->end())) : std::nullopt;
        buffer_.use(record_head + captured);
        if (copy) return copy;
        ++passed_over_;
    }
    return {};
}

std::optional<OctetsView> frame_in_erf(OctetsView record) {
    constexpr std::size_t head_size = 16, extension_size = 8, type_at = 8, record_length_at = 10, wire_length_at = 14;
    constexpr std::uint8_t type_bits = 0x7f, has_more = 0x80, infiniband = 21;
    if (record.size() < head_size || (record[type_at] & type_bits) != infiniband) return {};
    const auto wire_length = big_endian_16(record.subspan(wire_length_at));
    auto end = std::min(record.size(), big_endian_16(record.subspan(record_length_at)));
    std::size_t begin = head_size;
    for (bool is_extended = record[type_at] & has_more; is_extended; begin += extension_size) {
        if (begin + extension_size > end) return {};
        is_extended = record[begin] & has_more;
    }
    if (end < begin + wire_length || wire_length < shortest_frame || wire_length > longest_frame) return {};
    return record.subspan(begin, wire_length);
}

}  // namespace ipoib::lab
