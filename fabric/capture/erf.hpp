// SPDX-License-Identifier: GPL-2.0-or-later
// The ERF record header (Endace Extensible Record Format) that ibdump and DAG cards put before each frame.
#pragma once

#include "fabric/capture/reader.hpp"
#include "protocol/wire/field.hpp"

#include <cstdint>

namespace ipoib::capture {

/// ERF record header. ERF types reference (Endace EDM11-01), "Generic header".
struct ErfHeader {
    static constexpr std::string_view key = "erf", name = "ERF", title = "Extensible Record Format header";
    static constexpr std::size_t size = 16;
    using Time = wire::OctetArray<8>;
    template <class T>
    using Row = wire::Field<ErfHeader, T>;

    static constexpr Row<Time> time{
        {"ts", wire::octet(0), 64, wire::Show::octets, "Little-endian seconds since 1970, 32 bits of them fraction"}};
    static constexpr Row<bool> is_extended{
        {"ext", wire::octet(8), 1, wire::Show::flag, "Extension headers follow this header"}};
    static constexpr Row<std::uint8_t> type{
        {"type", wire::octet(8, 1), 7, wire::Show::dec, "What the record holds; 21 is an InfiniBand frame"}};
    static constexpr Row<std::uint8_t> flags{
        {"flags", wire::octet(9), 8, wire::Show::hex, "Capture interface and how the record length varies"}};
    static constexpr Row<std::uint16_t> record_length{
        {"rlen", wire::octet(10), 16, wire::Show::dec, "Octets of the record with its headers and padding"}};
    static constexpr Row<std::uint16_t> loss_counter{
        {"lctr", wire::octet(12), 16, wire::Show::dec,
         "Packets lost between the record before and this one; in some types a colour"}};
    static constexpr Row<std::uint16_t> wire_length{
        {"wlen", wire::octet(14), 16, wire::Show::dec, "Octets of the frame on the wire"}};
    static constexpr auto fields =
        wire::table(time, is_extended, type, flags, record_length, loss_counter, wire_length);
};
static_assert(wire::tiles(ErfHeader::fields, ErfHeader::size));

/// An ERF extension header: the first bit says whether another one follows.
struct ErfExtension {
    static constexpr std::string_view key = "erf_extension", name = "ERF extension", title = "ERF extension header";
    static constexpr std::size_t size = 8;
    static constexpr wire::Field<ErfExtension, bool> is_followed{
        {"ext", wire::octet(0), 1, wire::Show::flag, "Another extension header follows"}};
    static constexpr wire::Field<ErfExtension, std::uint8_t> type{
        {"type", wire::octet(0, 1), 7, wire::Show::dec, "Kind of extension"}};
    static constexpr wire::Field<ErfExtension, wire::OctetArray<7>> content{
        {"content", wire::octet(1), 56, wire::Show::octets, "By the kind of extension"}};
    static constexpr auto fields = wire::table(is_followed, type, content);
};
static_assert(wire::tiles(ErfExtension::fields, ErfExtension::size));

/// ErfHeader::type of an InfiniBand frame from its LRH on.
inline constexpr std::uint8_t erf_infiniband = 21;

/// ... and of one that the link itself sends. In both the counter counts losses.
inline constexpr std::uint8_t erf_infiniband_link = 25;

/// What an ERF record turned out to hold.
enum class ErfContent : std::uint8_t { infiniband, other_type, malformed };

/// Nanoseconds of a 32.32 fixed-point time, rounded to the nearest as Wireshark does.
[[nodiscard]] std::int64_t erf_time(const ErfHeader::Time& time) noexcept;

/// Which time a frame gets: a pcap has microseconds only, but the times of a pcapng are as good as those of ERF.
enum class ErfTime : std::uint8_t { of_header, of_record };

/// Takes the ERF header and its extensions off `frame`, whose octets begin with them, and gives it the link type
/// `infiniband` and, with ErfTime::of_header, the header's time. The frame is left as it was unless the answer is
/// `infiniband`; but of each record that tells of losses `lost` has what it tells.
ErfContent take_off_erf(Frame& frame, ErfTime time) noexcept;

/// The header that ibdump writes before a frame of `wire_length` octets captured at `time_ns`.
/// `wire_length` is at most longest_erf_frame, `time_ns` not negative.
wire::Bytes<ErfHeader> ibdump_erf_header(std::int64_t time_ns, std::uint32_t wire_length) noexcept;

/// The longest frame whose record length fits into the header.
inline constexpr std::uint32_t longest_erf_frame = 0xffff - ErfHeader::size;

}  // namespace ipoib::capture
