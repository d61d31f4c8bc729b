// SPDX-License-Identifier: GPL-2.0-or-later
// Frames as captures have them.
#include "traffic-gen/capture_sink.hpp"

#include "conformance/judge/judge.hpp"
#include "conformance/judge/notation.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <stdexcept>
#include <utility>

namespace ipoib::traffic {
namespace {

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
    using capture::LinkType;
    constexpr std::array<std::pair<std::string_view, LinkType>, 5> types{{{"erf", LinkType::erf},
                                                                          {"infiniband", LinkType::infiniband},
                                                                          {"ipoib", LinkType::ipoib},
                                                                          {"sll", LinkType::linux_sll},
                                                                          {"sll2", LinkType::linux_sll2}}};
    for (const auto& [known, type] : types)
        if (known == name) return type;
    return std::nullopt;
}

CaptureSink::CaptureSink(const std::string& path, capture::LinkType link_type)
    : link_type_(link_type), writer_(writer_of(path, link_type)) {}

bool CaptureSink::take(Time time, const Sender&, wire::Octets frame) {
    const auto at = begin_ns + time.count();
    if (link_type_ == capture::LinkType::erf || link_type_ == capture::LinkType::infiniband) {
        writer_.write(at, frame);
        return true;
    }
    wire::Packet packet;
    wire::decode(frame, packet);
    // An IP network device shows neither the subnet administrator nor what is no IPoIB.
    if (!packet.is_ipoib()) return false;
    writer_.write(at, build::as_seen_by(*conformance::medium_of(link_type_), frame));
    return true;
}

bool PrintSink::take(Time time, const Sender&, wire::Octets frame) {
    wire::Packet packet;
    wire::decode(frame, packet);
    fmt::print("{:>12.6f}  {}\n", std::chrono::duration<double>(time).count(), conformance::in_one_line(packet));
    return true;
}

void PrintSink::finish() {
    if (std::fflush(stdout) != 0) throw std::runtime_error("cannot write standard output");
}

}  // namespace ipoib::traffic
