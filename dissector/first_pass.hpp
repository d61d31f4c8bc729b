// SPDX-License-Identifier: GPL-2.0-or-later
// Wireshark's first pass over the capture that is open: its state, and what went wrong. Free of Wireshark; lets no
// exception out.
#pragma once

#include "dissector/capture_state.hpp"

namespace ipoib::dissector {

/// What the user has set, as Wireshark keeps it.
struct FirstPassSettings {
    const char* assume = "";      ///< as `ipoib-conform check --assume`
    const char* sa_file = "";     ///< as `ipoib-conform check --sa`
    const char* names_file = "";  ///< GUIDs and names
    bool is_one_subnet = false;
    bool has_notes = false;
};

/// Takes a frame that is seen for the first time into the state, which the first one begins. Gives its packet, valid
/// until the next; null if it was not taken.
const wire::Packet* take_in_first_pass(const inspection::FrameView& frame, const FirstPassSettings& settings) noexcept;

/// When all frames were seen once.
void end_first_pass() noexcept;

/// Null before the first frame.
const CaptureState* capture_state() noexcept;
/// Why, from this frame on, not all is judged, or what the user assumes is not used; empty where nothing went wrong.
const char* trouble_at(FrameNumber frame) noexcept;
/// The text, kept with the state, or "others" where too many different ones would have to be told apart.
const char* counted(const std::string& text) noexcept;

/// When the capture is closed.
void forget_capture_state() noexcept;

}  // namespace ipoib::dissector
