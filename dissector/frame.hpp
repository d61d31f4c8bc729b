// SPDX-License-Identifier: GPL-2.0-or-later
// The frame that is being shown.
#pragma once

#include "dissector/epan.hpp"
#include "dissector/first_pass.hpp"

namespace ipoib::dissector {

/// The frame at hand. Wireshark's window holds one packet while it shows others in the list, so it is open only from
/// begin_frame to end_frame, or to where Wireshark leaves by longjmp: then until the packet's memory goes. Its packet
/// points into the octets of `tvb`, which begins where the medium does.
struct Shown {
    const packet_info* pinfo = nullptr;
    tvbuff_t* tvb = nullptr;
    bool is_open = false;
    const wire::Packet* packet = nullptr;
    FrameNumber number = 0;
    proto_item* item = nullptr;  ///< of our protocol, once there is one
    proto_tree* tree = nullptr;  ///< below it
    proto_item* lead = nullptr;  ///< the last of the items that stand before all others
    bool has_datagram = false;   ///< the encapsulation header has been shown
};
extern Shown shown;

/// For register_init_routine and register_cleanup_routine.
void forget_frames();

/// Decodes a frame that begins with `medium`'s header and, when it is seen for the first time, takes it into the
/// capture state.
void begin_frame(tvbuff_t* tvb, packet_info* pinfo, wire::Medium medium);
/// Whether `pinfo` and `tvb` belong to the frame at hand.
bool is_at_hand(const packet_info* pinfo, tvbuff_t* tvb);

/// Whether the frame's packet is shown as one of IPoIB.
bool is_ipoib();

/// Whether this packet's frame is open already: one within it (a capture file in a packet) is left to Wireshark.
inline bool is_showing(const packet_info* pinfo) { return shown.is_open && shown.pinfo == pinfo; }
inline void end_frame() { shown.is_open = false; }

/// A copy of a text that lives as long as the packet is shown. Not to be called among the arguments of a call that may
/// leave by longjmp.
const char* in_packet(packet_info* pinfo, const std::string& text);

}  // namespace ipoib::dissector
