// SPDX-License-Identifier: GPL-2.0-or-later
// From Wireshark's buffers to the story and back.
#include "dissector/frame.hpp"

#include "conformance/assumptions/apply.hpp"
#include "dissector/preferences.hpp"

#include <cstdio>
#include <exception>
#include <limits>
#include <memory>

namespace ipoib::dissector {

Shown shown;

namespace {

Story* the_story = nullptr;
FrameNumber frame_of_trouble = 0;
bool has_failed = false;
char words_of_trouble[512];

struct SectionInterface {
    guint32 section, id;
};
constexpr guint32 most_interfaces = 64;
SectionInterface interfaces[most_interfaces];
guint32 interface_count = 0;

void tell_trouble(const char* what) {
    frame_of_trouble = shown.number;
    std::snprintf(words_of_trouble, sizeof words_of_trouble, "%s", what);
}

// ---- C++ that calls nothing of Wireshark and lets no exception out ----

using Statements = std::vector<assumptions::Statement>;

std::shared_ptr<const Statements> stated() {
    auto statements = std::make_shared<Statements>();
    try {
        if (*preferences.assume) statements->push_back(assumptions::parse_assumption(preferences.assume));
        if (*preferences.sa_file) statements->push_back(assumptions::read_sa_file(preferences.sa_file));
    } catch (const std::exception& problem) {
        tell_trouble((std::string("Assumptions are not used: ") + problem.what()).c_str());
        statements->clear();
    }
    return statements;
}

/// Whether the story has taken the frame.
bool tell_story(const inspection::FrameView& frame) noexcept {
    if (has_failed) return false;
    try {
        if (!the_story) {
            inspection::Options options{.is_one_subnet = preferences.is_one_subnet != 0};
            if (const auto statements = stated(); !statements->empty())
                options.assume = [statements](state::Subnet& subnet) {
                    for (const auto& statement : *statements) assumptions::apply(statement, subnet);
                };
            const bool has_notes = preferences.strictness == static_cast<int>(Strictness::notes);
            the_story = new Story(std::move(options), has_notes);
        }
        const bool was_whole = !the_story->is_incomplete();
        const bool is_taken = the_story->take(frame);
        if (was_whole && the_story->is_incomplete())
            tell_trouble("The capture shows more than is kept: from here on, some of what it breaks is not shown");
        return is_taken;
    } catch (const std::exception& problem) {
        // What was told so far stays; later frames are decoded alone.
        has_failed = true;
        tell_trouble((std::string("Judging stopped: ") + problem.what()).c_str());
        return false;
    }
}

const char* counted_text(const std::string& text) noexcept {
    try {
        return the_story ? the_story->counted(text) : "";
    } catch (const std::exception&) {
        return "others";
    }
}

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

/// The packet's memory goes, and with it what `shown` may point to.
template <class Result = bool>
Result packet_is_over(wmem_allocator_t*, wmem_cb_event_t, void* pinfo) {
    if (shown.pinfo == pinfo) shown = {};
    return Result{};
}

}  // namespace

const Story* story() { return the_story; }
const char* trouble_at(FrameNumber frame) { return frame == frame_of_trouble ? words_of_trouble : ""; }

void forget_story() {
    delete the_story;
    the_story = nullptr;
    interface_count = 0;
    has_failed = false;
    frame_of_trouble = 0;
    words_of_trouble[0] = '\0';
    shown = {};
}

void begin_frame(tvbuff_t* tvb, packet_info* pinfo, wire::Medium medium) {
    const auto length = static_cast<int>(tvb_captured_length(tvb));
    const wire::Octets octets{length > 0 ? tvb_get_ptr(tvb, 0, length) : nullptr, static_cast<std::size_t>(length)};
    const auto wire_length = tvb_reported_length(tvb);
    shown = {.pinfo = pinfo, .tvb = tvb, .is_open = true, .packet = &packet_at_hand, .number = pinfo->num};
    wmem_register_callback(pinfo->pool, packet_is_over, pinfo);
    bool is_told = false;
    if (!PINFO_FD_VISITED(pinfo)) {
        const auto& rec = *pinfo->rec;
        const auto has_interface = (rec.presence_flags & WTAP_HAS_INTERFACE_ID) != 0;
        const auto* name = has_interface ? interface_name(epan_get_interface_name, pinfo->epan, rec,
                                                          rec.rec_header.packet_header.interface_id)
                                         : nullptr;
        is_told = tell_story({.octets = octets,
                              .wire_length = wire_length,
                              .medium = medium,
                              .sight = {pinfo->num, time_of(pinfo->abs_ts), 0},
                              .interface = interface_of(rec),
                              .party = inspection::party_of(name ? name : "")});
    }
    if (is_told)
        shown.packet = &the_story->packet();
    else
        wire::decode(octets, packet_at_hand, medium, wire_length);
}

const char* counted(const std::string& text) { return counted_text(text); }

bool is_at_hand(const packet_info* pinfo, tvbuff_t* tvb) {
    return is_showing(pinfo) && tvb_get_ds_tvb(tvb) == tvb_get_ds_tvb(shown.tvb);
}

bool is_ipoib() {
    return shown.packet->is_ipoib() && (preferences.knows_connections || !shown.packet->has(wire::Part::connected));
}

const char* in_packet(packet_info* pinfo, const std::string& text) { return wmem_strdup(pinfo->pool, text.c_str()); }

}  // namespace ipoib::dissector
