// SPDX-License-Identifier: GPL-2.0-or-later
// What a violation looks like, as plain data: its packet field by field, and the frames around it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ipoib::reports {

/// A field of a packet.
struct FieldText {
    std::string name, value;
    std::optional<std::string> expected{};  ///< what it should have been, where it is wrong
};

struct HeaderText {
    std::string title;
    /// In octets from the frame's first octet; none: what is told of the packet as a whole.
    std::optional<std::size_t> offset{};
    std::vector<FieldText> fields;
};

/// A frame that passed between parties.
struct LadderFrame {
    std::uint64_t number = 0;  ///< from 1, as in the capture
    std::int64_t time_ns = 0;  ///< since the first one of the ladder
    std::size_t from = 0;      ///< index into Exhibit::parties
    /// Index of the receiver. None: a group, whoever is in it.
    std::optional<std::size_t> to{};
    std::string text;                ///< the frame in one line
    std::vector<std::string> notes;  ///< what the tester did or found before it
    bool is_wrong = false;
};

/// The packet that breaks a requirement, or where there is none the frames after which there is no verdict.
struct Exhibit {
    static constexpr std::size_t most_octets = 512;
    /// So many findings are told in full.
    static constexpr std::size_t most = 200;

    std::size_t result = 0;  ///< index into Results::results
    std::uint32_t capture = 0;
    std::uint64_t frame = 0;  ///< that is taken apart, from 1; 0: none is wrong by itself
    std::vector<std::string> parties;
    std::vector<LadderFrame> ladder;
    std::uint64_t left_out = 0;           ///< frames before the ladder's first
    std::vector<std::string> afterwards;  ///< what the tester did or found after its last
    std::vector<HeaderText> headers;
    std::vector<std::uint8_t> octets;  ///< of the frame, from its link type's first header on: the first ones
    std::size_t size = 0;              ///< how many it has
    std::vector<std::pair<std::size_t, std::size_t>> wrong;  ///< octets of wrong fields, the end not included
    std::vector<std::uint8_t> pcapng;                        ///< a capture of the ladder's frames
};

}  // namespace ipoib::reports
