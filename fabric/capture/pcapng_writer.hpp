// SPDX-License-Identifier: GPL-2.0-or-later
// The blocks of a pcapng as octets, little-endian (draft-ietf-opsawg-pcapng).
#pragma once

#include "fabric/capture/reader.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace ipoib::capture::pcapng {

using Buffer = std::vector<std::uint8_t>;

/// Section header that names this project as the writing application; a comment, if any, is the section's. Section 4.1.
void append_section_header(Buffer& buffer, std::string_view comment = {});

/// Interface description with a name and nanosecond times, without a limit to a packet's length. Section 4.2.
void append_interface(Buffer& buffer, LinkType link_type, std::string_view name);

/// Enhanced packet block. `header` stands before `octets` in the packet, as an ERF header does; lengths count both.
/// A comment that is too long for an option is shortened. Section 4.3.
struct Packet {
    std::uint32_t interface = 0;
    std::uint64_t time_ns = 0;
    wire::Octets header, octets;
    std::uint32_t wire_length = 0;
    std::string_view comment;
};
void append_packet(Buffer& buffer, const Packet& packet);

}  // namespace ipoib::capture::pcapng
