// SPDX-License-Identifier: GPL-2.0-or-later
// Writing down what a capture decodes to.
#include "captures/expectation.hpp"

#include "conformance/engine/passive.hpp"

namespace ipoib::captures {
namespace {

std::string frame_line(const capture::Frame& frame) {
    auto line = "frame " + std::to_string(frame.number) + ':';
    const auto medium = conformance::medium_of(frame.link_type);
    if (!medium) return line + " not decoded\n";
    wire::Packet packet;
    wire::decode(frame.octets, packet, *medium, frame.wire_length);
    packet.for_each_header(
        [&](const wire::HeaderSpec& header, const std::uint8_t*) { line += ' ' + std::string(header.key); });
    if (packet.is_ipoib()) line += ", IPoIB";
    if (packet.foreign != wire::Foreign::none) line += ", " + std::string(name(packet.foreign));
    if (packet.stop)
        line += ", stopped at " + std::to_string(packet.stop.offset) + " before " + std::string(packet.stop.layer);
    return line + '\n';
}

}  // namespace

std::string expectation(const std::string& path) {
    auto reader = capture::Reader::open(path);
    std::string text = "link type " + std::to_string(reader.file_link_type()) + '\n';
    capture::Frame frame;
    while (reader.next(frame) == capture::Status::frame) text += frame_line(frame);
    const auto results = conformance::check({.captures = {path}, .rules = rules::every()});
    for (const auto& note : results.captures.at(0).notes) text += "note: " + note + '\n';
    for (const auto& result : results.results)
        if (result.verdict != reports::Verdict::na)
            text += std::string(name(result.verdict)) + ' ' + result.id + ": " + result.message + '\n';
    return text;
}

}  // namespace ipoib::captures
