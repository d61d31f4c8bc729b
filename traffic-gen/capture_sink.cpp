// SPDX-License-Identifier: GPL-2.0-or-later
// Frames as captures have them.
#include "traffic-gen/capture_sink.hpp"

#include "base/job_log.hpp"
#include "conformance/judge/notation.hpp"
#include "protocol/wire/medium.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <stdexcept>
#include <utility>

namespace ipoib::traffic {
namespace {

/// Whole frames, each behind a header of its own.
constexpr std::string_view erf = "erf";
/// First packets are of this time, so that the same seed gives the same file.
constexpr std::int64_t begin_ns = 1'767'225'600'000'000'000;  // 2026-01-01 00:00:00 UTC

capture::Writer writer_of(const std::string& path, capture::LinkType link_type) {
    if (!path.ends_with(".pcapng")) return capture::Writer::pcap(path, link_type);
    auto writer = capture::Writer::pcapng(path);
    (void)writer.add_interface(link_type, "ipoib-gen");
    return writer;
}

}  // namespace

std::optional<capture::LinkType> find_link_type(std::string_view name) noexcept {
    if (name == erf) return capture::LinkType::erf;
    for (const auto& row : wire::media())
        if (!name.empty() && row.option == name) return static_cast<capture::LinkType>(row.link_type);
    return std::nullopt;
}

std::vector<std::string> link_type_names(bool has_whole_frames) {
    std::vector<std::string> names;
    if (has_whole_frames) names.emplace_back(erf);
    for (const auto& row : wire::media())
        if (!row.option.empty() && (row.make_head == nullptr) == has_whole_frames) names.emplace_back(row.option);
    return names;
}

CaptureSink::CaptureSink(const std::string& path, capture::LinkType link_type)
    : link_type_(link_type), writer_(writer_of(path, link_type)) {}

bool CaptureSink::take(Time time, const Sender&, wire::Octets frame) {
    const auto at = begin_ns + time.count();
    const auto* row = wire::find_medium(static_cast<std::uint16_t>(link_type_));
    if (!row || !row->make_head) {
        writer_.write(at, frame);
        return true;
    }
    wire::Packet packet;
    wire::decode(frame, packet);
    // An IP network device shows neither the subnet administrator nor what is no IPoIB.
    if (!packet.is_ipoib()) return false;
    writer_.write(at, build::as_seen_by(row->medium, frame));
    return true;
}

bool PrintSink::take(Time time, const Sender&, wire::Octets frame) {
    wire::Packet packet;
    wire::decode(frame, packet);
    fmt::print("{}", without_commands(fmt::format("{:>12.6f}  {}\n", std::chrono::duration<double>(time).count(),
                                                  conformance::in_one_line(packet))));
    return true;
}

void PrintSink::finish() {
    if (std::fflush(stdout) != 0) throw std::runtime_error("cannot write standard output");
}

}  // namespace ipoib::traffic
