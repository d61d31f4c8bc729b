// SPDX-License-Identifier: GPL-2.0-or-later
// Writing down what a capture decodes to.
#include "captures/expectation.hpp"

#include "conformance/judge/passive.hpp"

namespace ipoib::captures {
namespace {

/// For comparisons; the name for people may change.
std::string_view key(wire::Foreign foreign) {
    switch (foreign) {
        case wire::Foreign::none:
            break;
        case wire::Foreign::draft_2001_header:
            return "draft-2001-header";
        case wire::Foreign::draft_2001_address:
            return "draft-2001-address";
        case wire::Foreign::draft_p_key:
            return "draft-p-key";
        case wire::Foreign::draft_ipv6_broadcast:
            return "draft-ipv6-broadcast";
        case wire::Foreign::roce_v1:
            return "roce-v1";
        case wire::Foreign::roce_v2:
            return "roce-v2";
        case wire::Foreign::freebsd_ethernet:
            return "freebsd-ethernet";
        case wire::Foreign::raw_ipv6:
            return "raw-ipv6";
        case wire::Foreign::raw_packet:
            return "raw-packet";
    }
    return "none";
}

std::string frame_line(const capture::Frame& frame) {
    auto line = "frame " + std::to_string(frame.number) + ':';
    const auto medium = conformance::medium_of(frame.link_type);
    if (!medium) return line + " not decoded\n";
    wire::Packet packet;
    wire::decode(frame.octets, packet, *medium, frame.wire_length);
    packet.for_each_header(
        [&](const wire::HeaderSpec& header, const std::uint8_t*) { line += ' ' + std::string(header.key); });
    if (packet.is_ipoib()) line += ", IPoIB";
    if (packet.foreign != wire::Foreign::none) line += ", " + std::string(key(packet.foreign));
    if (packet.stop) line += ", stopped at " + std::to_string(packet.stop.offset);
    return line + '\n';
}

/// With the frames that break it.
std::string verdict_line(const reports::Result& result) {
    auto line = std::string(name(result.verdict)) + ' ' + result.id;
    for (const auto frame : result.frames) line += ' ' + std::to_string(frame);
    return line + '\n';
}

}  // namespace

std::string expectation(const std::string& path) {
    auto reader = capture::Reader::open(path);
    std::string text = "link type " + std::to_string(reader.file_link_type()) + '\n';
    capture::Frame frame;
    while (reader.next(frame) == capture::Status::frame) text += frame_line(frame);
    const auto results = conformance::check({.captures = {path}, .rules = rules::every()});
    text += "notes: " + std::to_string(results.captures.at(0).notes.size()) + '\n';
    for (const auto& result : results.results)
        if (result.verdict != reports::Verdict::na) text += verdict_line(result);
    return text;
}

}  // namespace ipoib::captures
