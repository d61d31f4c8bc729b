// SPDX-License-Identifier: GPL-2.0-or-later
// For tests: the far end of a switch's port, and SMPs and data frames made by hand.
#pragma once

#include "catch2.hpp"
#include "fabric/simulated/smp_frame.hpp"
#include "fabric/simulated/switch.hpp"
#include "protocol/build/samples.hpp"

#include <algorithm>

namespace ipoib::fabric::simulated::testing {

/// Keeps what comes out of a port.
struct Drain : NodeCable {
    void carry(const Frame& frame, Time arrival) override {
        frames.push_back(frame);
        arrivals.push_back(arrival);
    }
    /// The SMP of the only frame, which is taken away.
    [[nodiscard]] SmpFrame take_smp() {
        REQUIRE(frames.size() == 1);
        const auto smp = SmpFrame::of(frames[0].octets());
        REQUIRE(smp);
        frames.clear();
        return *smp;
    }
    std::vector<Frame> frames;
    std::vector<Time> arrivals;
};

/// A directed-route SMP as it leaves a node: the first hop is made.
inline SmpFrame directed(wire::Method method, std::uint16_t attribute, std::uint32_t modifier = 0,
                         std::initializer_list<std::uint8_t> further_ports = {}, wire::Octets data = {}) {
    using wire::DirectedSmp;
    wire::OctetArray<64> path{};
    path[1] = 1;
    std::copy(further_ports.begin(), further_ports.end(), path.begin() + 2);
    SmpFrame smp;
    smp.set(DirectedSmp::method, method)
        .set(DirectedSmp::attribute_id, attribute)
        .set(DirectedSmp::attribute_modifier, modifier)
        .set(DirectedSmp::transaction_id, 0x77)
        .set(DirectedSmp::hop_pointer, 1)
        .set(DirectedSmp::hop_count, static_cast<std::uint8_t>(1 + further_ports.size()))
        .set(DirectedSmp::initial_path, path);
    std::copy(data.begin(), data.end(), smp.data().begin());
    return smp;
}

inline std::uint16_t status_of(const SmpFrame& smp) {
    return smp.is_directed() ? smp.directed()[wire::DirectedSmp::status] : smp.smp()[wire::LidSmp::status];
}

/// A data frame from one LID to another.
inline Frame data_frame(std::uint16_t from, std::uint16_t to, std::size_t size = 40) {
    auto sender = build::samples::host(1), receiver = build::samples::host(2);
    sender.lid = from;
    receiver.lid = to;
    return Frame{build::udp(sender, receiver, {}, size).build()};
}
inline Frame multicast_frame(std::uint16_t from, std::uint16_t mlid) {
    auto sender = build::samples::host(1);
    sender.lid = from;
    return Frame{build::udp_to_group(sender, 0xef010203, mlid, {}, 40).build()};
}

}  // namespace ipoib::fabric::simulated::testing
