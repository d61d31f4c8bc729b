// SPDX-License-Identifier: GPL-2.0-or-later
// The ERF record header (Endace Extensible Record Format): reading any variant, writing as ibdump does.
#include "fabric/capture/erf.hpp"

#include <algorithm>
#include <bit>

namespace ipoib::capture {
namespace {

constexpr std::uint64_t ns_per_second = 1'000'000'000;

}  // namespace

std::int64_t erf_time(const ErfHeader::Time& time) noexcept {
    auto fixed_point = std::bit_cast<std::uint64_t>(time);
    if constexpr (std::endian::native == std::endian::big) fixed_point = __builtin_bswap64(fixed_point);
    constexpr std::uint64_t half = std::uint64_t{1} << 31;
    const std::uint64_t fraction = ((fixed_point & 0xffffffff) * ns_per_second + half) >> 32;
    return static_cast<std::int64_t>((fixed_point >> 32) * ns_per_second + fraction);
}

ErfContent take_off_erf(Frame& frame, ErfTime time) noexcept {
    const auto header = wire::View<ErfHeader>::at(frame.octets);
    if (!header) return ErfContent::malformed;
    auto rest = frame.octets.subspan(ErfHeader::size);
    for (bool more = header[ErfHeader::is_extended]; more;) {
        const auto extension = wire::View<ErfExtension>::at(rest);
        if (!extension) return ErfContent::malformed;
        more = extension[ErfExtension::is_followed];
        rest = rest.subspan(ErfExtension::size);
    }
    const auto type = header[ErfHeader::type];
    // A pcapng may count the same loss once more.
    if (type == erf_infiniband || type == erf_infiniband_link)
        frame.lost = std::max<std::uint64_t>(frame.lost, header[ErfHeader::loss_counter]);
    if (type != erf_infiniband) return ErfContent::other_type;

    // Some DAG cards pad the record, so its own length tells nothing of the frame; some leave out the wire length.
    const std::size_t wire_length = header[ErfHeader::wire_length];
    if (wire_length != 0) rest = rest.first(std::min(rest.size(), wire_length));
    frame.wire_length = static_cast<std::uint32_t>(std::max(rest.size(), wire_length));
    frame.octets = rest;
    if (time == ErfTime::of_header) frame.time_ns = erf_time(header[ErfHeader::time]);
    frame.link_type = LinkType::infiniband;
    return ErfContent::infiniband;
}

wire::Bytes<ErfHeader> ibdump_erf_header(std::int64_t time_ns, std::uint32_t wire_length) noexcept {
    constexpr std::uint8_t varying_record_length = 4;
    // 2^32 / 10^6 rounded up, so a time late in a second runs into the next one; ibdump's files are like that.
    constexpr std::uint64_t fraction_per_us = 4295;
    const auto ns = static_cast<std::uint64_t>(time_ns);
    std::uint64_t fixed_point = ((ns / ns_per_second) << 32) + ns % ns_per_second / 1000 * fraction_per_us;
    ErfHeader::Time time;
    for (auto& octet : time) {
        octet = static_cast<std::uint8_t>(fixed_point);
        fixed_point >>= 8;
    }
    static constexpr auto every =
        wire::Bytes<ErfHeader>{}.set(ErfHeader::type, erf_infiniband).set(ErfHeader::flags, varying_record_length);
    auto header = every;
    return header.set(ErfHeader::time, time)
        .set(ErfHeader::record_length, static_cast<std::uint16_t>(ErfHeader::size + wire_length))
        .set(ErfHeader::wire_length, static_cast<std::uint16_t>(wire_length));
}

}  // namespace ipoib::capture
