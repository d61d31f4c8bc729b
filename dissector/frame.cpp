// SPDX-License-Identifier: GPL-2.0-or-later
// From Wireshark's packets to frames of the capture state.
#include "dissector/frame.hpp"

#include "dissector/preferences.hpp"

#include <algorithm>
#include <limits>

namespace ipoib::dissector {

Shown shown;

namespace {

struct SectionInterface {
    guint32 section, id;
};
constexpr guint32 most_interfaces = 64;
SectionInterface interfaces[most_interfaces];
guint32 interface_count = 0;

wire::Packet packet_at_hand;

/// The interface's name, whatever the version asks for it.
template <class Epan>
const char* interface_name(const char* (*name)(const Epan*, guint32), const Epan* epan, const wtap_rec& rec,
                           guint32 id) {
    // 4.0 looks in the first section only.
    const bool is_first = !(rec.presence_flags & WTAP_HAS_SECTION_NUMBER) || rec.section_number == 0;
    return is_first ? name(epan, id) : nullptr;
}
template <class Epan>
const char* interface_name(const char* (*name)(const Epan*, guint32, unsigned), const Epan* epan, const wtap_rec& rec,
                           guint32 id) {
    return name(epan, id, (rec.presence_flags & WTAP_HAS_SECTION_NUMBER) ? rec.section_number : 0);
}

/// The interfaces of a file by order of appearance: Wireshark counts them anew in each section of a pcapng.
guint32 interface_of(const wtap_rec& rec) {
    if (!(rec.presence_flags & WTAP_HAS_INTERFACE_ID)) return 0;
    const guint32 section = (rec.presence_flags & WTAP_HAS_SECTION_NUMBER) ? rec.section_number : 0;
    const SectionInterface one{section, rec.rec_header.packet_header.interface_id};
    guint32 index = 0;
    for (; index < interface_count; ++index)
        if (interfaces[index].section == one.section && interfaces[index].id == one.id) return index;
    if (interface_count == most_interfaces) return most_interfaces - 1;
    interfaces[interface_count++] = one;
    return index;
}

/// In ns; as much as fits where the capture's times are absurd.
std::int64_t time_of(const nstime_t& time) {
    std::int64_t ns = 0;
    if (!__builtin_mul_overflow(std::int64_t{time.secs}, std::int64_t{1'000'000'000}, &ns) &&
        !__builtin_add_overflow(ns, std::int64_t{time.nsecs}, &ns))
        return ns;
    return time.secs > 0 ? std::numeric_limits<std::int64_t>::max() : std::numeric_limits<std::int64_t>::min();
}

/// What the file says was dropped before the packet: the drop count of its block, or ERF's loss counter.
std::uint64_t lost_before(const packet_info& pinfo) {
    const auto& rec = *pinfo.rec;
    guint64 lost = 0;
    if (!rec.block || wtap_block_get_uint64_option_value(rec.block, OPT_PKT_DROPCOUNT, &lost) != WTAP_OPTTYPE_SUCCESS)
        lost = 0;
    // The packet itself may be known as InfiniBand already.
    const bool is_erf = rec.rec_header.packet_header.pkt_encap == WTAP_ENCAP_ERF && pinfo.pseudo_header;
    return is_erf ? std::max<std::uint64_t>(lost, pinfo.pseudo_header->erf.phdr.lctr) : std::uint64_t{lost};
}

/// The packet's memory goes, and with it what `shown` may point to.
template <class Result = bool>
Result packet_is_over(wmem_allocator_t*, wmem_cb_event_t, void* pinfo) {
    if (shown.pinfo == pinfo) shown = {};
    return Result{};
}

}  // namespace

void forget_frames() {
    forget_capture_state();
    interface_count = 0;
    shown = {};
}

void begin_frame(tvbuff_t* tvb, packet_info* pinfo, wire::Medium medium) {
    const auto length = static_cast<int>(tvb_captured_length(tvb));
    const wire::Octets octets{length > 0 ? tvb_get_ptr(tvb, 0, length) : nullptr, static_cast<std::size_t>(length)};
    const auto wire_length = tvb_reported_length(tvb);
    shown = {.pinfo = pinfo, .tvb = tvb, .is_open = true, .packet = &packet_at_hand, .number = pinfo->num};
    wmem_register_callback(pinfo->pool, packet_is_over, pinfo);
    if (!PINFO_FD_VISITED(pinfo)) {
        const auto& rec = *pinfo->rec;
        const auto has_interface = (rec.presence_flags & WTAP_HAS_INTERFACE_ID) != 0;
        const auto* name = has_interface ? interface_name(epan_get_interface_name, pinfo->epan, rec,
                                                          rec.rec_header.packet_header.interface_id)
                                         : nullptr;
        const FirstPassSettings settings{
            .assume = preferences.assume,
            .sa_file = preferences.sa_file,
            .names_file = preferences.names_file,
            .is_one_subnet = preferences.is_one_subnet != 0,
            .has_notes = preferences.strictness == static_cast<int>(Strictness::notes),
        };
        const auto* packet = take_in_first_pass({.octets = octets,
                                                 .wire_length = wire_length,
                                                 .medium = medium,
                                                 .sight = {pinfo->num, time_of(pinfo->abs_ts), 0},
                                                 .interface = interface_of(rec),
                                                 .origin = inspection::origin_of(name ? name : ""),
                                                 .lost = lost_before(*pinfo),
                                                 .lost_on = name ? name : ""},
                                                settings);
        if (packet) {
            shown.packet = packet;
            return;
        }
    }
    wire::decode(octets, packet_at_hand, medium, wire_length);
}

bool is_at_hand(const packet_info* pinfo, tvbuff_t* tvb) {
    return is_showing(pinfo) && tvb_get_ds_tvb(tvb) == tvb_get_ds_tvb(shown.tvb);
}

bool is_ipoib() {
    return shown.packet->is_ipoib() && (preferences.knows_connections || !shown.packet->has(wire::Part::connected));
}

const char* in_packet(packet_info* pinfo, const std::string& text) { return wmem_strdup(pinfo->pool, text.c_str()); }

}  // namespace ipoib::dissector
