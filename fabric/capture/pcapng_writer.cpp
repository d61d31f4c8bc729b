// SPDX-License-Identifier: GPL-2.0-or-later
// The blocks of a pcapng as octets, little-endian (draft-ietf-opsawg-pcapng).
#include "fabric/capture/pcapng_writer.hpp"

#include "fabric/capture/pcapng_format.hpp"

#include <algorithm>
#include <limits>

namespace ipoib::capture::pcapng {
namespace {

template <class T>
void append(Buffer& buffer, T value) {
    for (std::size_t i = 0; i < sizeof value; ++i) buffer.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
}

void append_padding(Buffer& buffer, std::size_t length) { buffer.resize(buffer.size() + padded(length) - length); }

void append_option(Buffer& buffer, std::uint16_t code, std::string_view value) {
    value = value.substr(0, std::numeric_limits<std::uint16_t>::max());
    append(buffer, code);
    append(buffer, static_cast<std::uint16_t>(value.size()));
    buffer.insert(buffer.end(), value.begin(), value.end());
    append_padding(buffer, value.size());
}

void append_end_of_options(Buffer& buffer) { append_option(buffer, opt_end, {}); }

/// Puts the block's length into its head and behind its body once the body has been appended.
class BlockScope {
public:
    BlockScope(Buffer& buffer, std::uint32_t type) : buffer_{buffer}, begin_{buffer.size()} {
        append(buffer_, type);
        append(buffer_, std::uint32_t{0});
    }
    BlockScope(const BlockScope&) = delete;
    BlockScope& operator=(const BlockScope&) = delete;
    void close() {
        const auto length = static_cast<std::uint32_t>(buffer_.size() - begin_ + block_tail);
        append(buffer_, length);
        std::copy(buffer_.end() - block_tail, buffer_.end(),
                  buffer_.begin() + static_cast<std::ptrdiff_t>(begin_ + sizeof length));
    }

private:
    Buffer& buffer_;
    std::size_t begin_;
};

}  // namespace

void append_section_header(Buffer& buffer, std::string_view comment) {
    constexpr std::uint64_t unknown_length = std::numeric_limits<std::uint64_t>::max();
    constexpr std::uint16_t minor_version = 0;
    BlockScope block{buffer, section_header};
    append(buffer, byte_order_magic);
    append(buffer, major_version);
    append(buffer, minor_version);
    append(buffer, unknown_length);
    append_option(buffer, shb_user_application, "ipoib-conform");
    if (!comment.empty()) append_option(buffer, opt_comment, comment);
    append_end_of_options(buffer);
    block.close();
}

void append_interface(Buffer& buffer, LinkType link_type, std::string_view name) {
    constexpr std::uint16_t reserved = 0;
    constexpr std::uint32_t no_snap_length = 0;
    constexpr char nanoseconds = 9;
    BlockScope block{buffer, interface_description};
    append(buffer, static_cast<std::uint16_t>(link_type));
    append(buffer, reserved);
    append(buffer, no_snap_length);
    if (!name.empty()) append_option(buffer, if_name, name);
    append_option(buffer, if_time_resolution, {&nanoseconds, 1});
    append_end_of_options(buffer);
    block.close();
}

void append_packet(Buffer& buffer, const Packet& packet) {
    const std::size_t header_size = packet.header.size(), size = header_size + packet.octets.size();
    BlockScope block{buffer, enhanced_packet};
    append(buffer, packet.interface);
    append(buffer, static_cast<std::uint32_t>(packet.time_ns >> 32));
    append(buffer, static_cast<std::uint32_t>(packet.time_ns));
    append(buffer, static_cast<std::uint32_t>(size));
    append(buffer, static_cast<std::uint32_t>(header_size + packet.wire_length));
    buffer.insert(buffer.end(), packet.header.begin(), packet.header.end());
    buffer.insert(buffer.end(), packet.octets.begin(), packet.octets.end());
    append_padding(buffer, size);
    if (!packet.comment.empty()) {
        append_option(buffer, opt_comment, packet.comment);
        append_end_of_options(buffer);
    }
    block.close();
}

}  // namespace ipoib::capture::pcapng
