// SPDX-License-Identifier: GPL-2.0-or-later
// Takes what the traffic generator sends into a trace.
#pragma once

#include "conformance/metamorphic/trace.hpp"
#include "traffic-gen/sink.hpp"

namespace ipoib::metamorphic {

/// 2026-01-01 00:00:00 UTC: evidence has a date.
inline constexpr std::int64_t begin_ns = 1'767'225'600'000'000'000;

class Keeper : public traffic::Sink {
public:
    explicit Keeper(Trace& trace) : trace_(trace) {}
    bool take(traffic::Time time, const traffic::Sender&, wire::Octets octets) override {
        const auto kept = trace_.store.copy(octets);
        trace_.frames.push_back({.octets = kept,
                                 .wire_length = static_cast<std::uint32_t>(kept.size()),
                                 .time = begin_ns + time.count(),
                                 .from = static_cast<std::uint32_t>(trace_.frames.size())});
        return true;
    }

private:
    Trace& trace_;
};

}  // namespace ipoib::metamorphic
