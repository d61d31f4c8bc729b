// SPDX-License-Identifier: GPL-2.0-or-later
// libFuzzer target: the Wireshark plugin within libwireshark, as tshark -2 -V runs it: each frame of an input in a
// first pass, then again with its tree. Wireshark ends the process at a bug of a dissector. Inputs are those of
// fuzz/links.cpp.
#include "dissector/epan.hpp"
#include "dissector/frame.hpp"
#include "fuzz/fuzzer.hpp"
#include "protocol/wire/medium.hpp"

extern "C" {
#include <epan/frame_data.h>
#include <epan/tvbuff.h>
#include <wiretap/pcap-encap.h>
#include <wsutil/privileges.h>
#include <wsutil/wslog.h>
void plugin_register(void);
}

#include <array>
#include <vector>

using namespace ipoib;
using fuzz::demand;
using fuzz::Octets;

namespace {

constexpr std::size_t most_frames = 64;

struct FrameOf {
    int encapsulation;
    std::int64_t time_ns;
    Octets octets;
};

/// Of the input that is tried.
std::array<frame_data, most_frames> frame_data_of;
const nstime_t* time_of(packet_provider_data*, guint32 number) {
    return number >= 1 && number <= most_frames ? &frame_data_of[number - 1].abs_ts : nullptr;
}

/// Who else may take the payload of an InfiniBand packet: Wireshark's own, some of which have bugs that end the
/// process.
void turn_off(const gchar*, heur_dtbl_entry* entry, gpointer) {
    entry->enabled = std::string_view(entry->short_name).starts_with("rfc4391");
}

/// One session for all inputs: to begin another takes every dissector longer than the frames do.
epan_t* start() {
    ::setenv("WIRESHARK_ABORT_ON_DISSECTOR_BUG", "1", 1);
    ::setenv("HOME", "/nonexistent", 1);
    ws_log_set_level(LOG_LEVEL_ERROR);
    init_process_policies();
    relinquish_special_privs_perm();
    wtap_init(FALSE);
    plugin_register();
    demand(epan_init(nullptr, nullptr, FALSE));
    epan_load_settings();
    prefs_apply_all();
    for (const auto* const table : {"infiniband.payload", "infiniband.mad.cm.private"})
        heur_dissector_table_foreach(table, turn_off, nullptr);
    static const packet_provider_funcs provider{time_of, nullptr, nullptr, nullptr};
    return epan_new(nullptr, &provider);
}

wtap_rec record_of(const FrameOf& frame) {
    wtap_rec rec{};
    rec.rec_type = REC_TYPE_PACKET;
    rec.presence_flags = WTAP_HAS_TS | WTAP_HAS_CAP_LEN;
    rec.ts.secs = static_cast<time_t>(frame.time_ns / 1'000'000'000);
    rec.ts.nsecs = static_cast<int>(frame.time_ns % 1'000'000'000);
    rec.rec_header.packet_header.caplen = static_cast<guint32>(frame.octets.size());
    rec.rec_header.packet_header.len = rec.rec_header.packet_header.caplen;
    rec.rec_header.packet_header.pkt_encap = frame.encapsulation;
    if (frame.encapsulation == WTAP_ENCAP_ERF) rec.rec_header.packet_header.pseudo_header.erf.phdr.type = 21;
    return rec;
}

void dissect(epan_dissect_t* edt, frame_data& data, const FrameOf& frame) {
    auto rec = record_of(frame);
    const auto size = static_cast<guint>(frame.octets.size());
    epan_dissect_run(edt, WTAP_FILE_TYPE_SUBTYPE_UNKNOWN, &rec,
                     tvb_new_real_data(frame.octets.data(), size, static_cast<gint>(size)), &data, nullptr);
}

std::vector<FrameOf> frames_in(fuzz::Input input) {
    std::vector<FrameOf> frames;
    std::int64_t now = 0;
    while (!input.is_empty() && frames.size() < most_frames) {
        const auto& medium = wire::media()[input.number() % wire::media().size()];
        const auto pause = input.number();
        now += pause < 16 ? pause : std::int64_t{1} << pause % 42;
        frames.push_back({wtap_pcap_encap_to_wtap_encap(medium.link_type), now, input.counted()});
    }
    return frames;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static auto* const session = start();
    const auto frames = frames_in({data, size});
    dissector::forget_frames();
    for (const bool is_shown : {false, true}) {
        auto* const edt = epan_dissect_new(session, TRUE, is_shown);
        for (std::size_t i = 0; i < frames.size(); ++i) {
            auto& about = frame_data_of[i];
            const auto rec = record_of(frames[i]);
            if (!is_shown) frame_data_init(&about, static_cast<guint32>(i + 1), &rec, 0, 0);
            dissect(edt, about, frames[i]);
            about.visited = 1;
            epan_dissect_reset(edt);
        }
        epan_dissect_free(edt);
        if (!is_shown) dissector::end_first_pass();
    }
    for (std::size_t i = 0; i < frames.size(); ++i) frame_data_destroy(&frame_data_of[i]);
    return 0;
}
