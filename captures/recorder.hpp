// SPDX-License-Identifier: GPL-2.0-or-later
// Writes a sample capture packet by packet, at times that are always the same.
#pragma once

#include "fabric/capture/writer.hpp"
#include "protocol/build/packet_builder.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace ipoib::captures {

/// Writes packets a millisecond apart, from 2026 on.
class Recorder {
public:
    explicit Recorder(capture::Writer writer, wire::Medium medium = wire::Medium::infiniband)
        : writer_(std::move(writer)), medium_(medium) {}
    ~Recorder() { writer_.close(); }
    Recorder(const Recorder&) = delete;
    Recorder& operator=(const Recorder&) = delete;

    /// Datagrams get the next PSN of their queue pair, as adapters number what they send.
    void operator()(build::PacketBuilder packet, std::uint32_t interface = 0) {
        const auto lrh = packet.get<wire::Lrh>();
        const auto deth = packet.get<wire::Deth>();
        if (lrh && deth) packet.choose(wire::Bth::psn, psns_[{lrh[wire::Lrh::slid], deth[wire::Deth::src_qp]}]++);
        octets(packet.build(medium_), interface);
    }
    /// A frame as it is; no more than `kept` octets of it are written.
    void octets(wire::Octets frame, std::uint32_t interface = 0, std::size_t kept = ~std::size_t{0}) {
        const auto cut = frame.first(std::min(kept, frame.size()));
        writer_.write(time_, cut, interface, static_cast<std::uint32_t>(frame.size()));
        time_ += between;
    }
    /// Lets time pass before the next packet.
    void pause(std::int64_t ns) { time_ += ns; }

private:
    static constexpr std::int64_t first_time = 1'767'225'600'000'000'000;  // 2026-01-01 00:00:00 UTC
    static constexpr std::int64_t between = 1'000'000;

    capture::Writer writer_;
    wire::Medium medium_;
    std::int64_t time_ = first_time;
    std::map<std::pair<std::uint16_t, std::uint32_t>, std::uint32_t> psns_;  ///< by LID and queue pair
};

}  // namespace ipoib::captures
