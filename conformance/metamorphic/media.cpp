// SPDX-License-Identifier: GPL-2.0-or-later
// What an IP network device shows of a packet.
#include "conformance/metamorphic/media.hpp"

#include "protocol/build/packet_builder.hpp"
#include "protocol/wire/medium.hpp"

namespace ipoib::metamorphic {

std::vector<wire::Medium> other_media() {
    std::vector<wire::Medium> others;
    for (const auto& row : wire::media())
        if (row.make_head) others.push_back(row.medium);
    return others;
}

bool show_as(wire::Medium medium, const Source& source, std::size_t index, wire::Octets octets, Frame& frame,
             Store& store) {
    wire::Packet packet;
    wire::decode(octets, packet);
    // An IP network device shows nothing else, and knows one form of the encapsulation header.
    const bool is_foreign = packet.foreign != wire::Foreign::none || source.who[index].is_foreign;
    if (!packet.is_ipoib() || is_foreign || packet.tail == wire::Tail::truncated) return false;
    frame = source.frames()[index];
    frame.medium = medium;
    frame.octets = store.keep(build::as_seen_by(medium, octets));
    frame.wire_length = static_cast<std::uint32_t>(frame.octets.size());
    return true;
}

}  // namespace ipoib::metamorphic
