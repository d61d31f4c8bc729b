// SPDX-License-Identifier: GPL-2.0-or-later
// Where a switch sends a directed-route SMP next. IBTA Vol 1, 14.2.2.
#pragma once

#include "protocol/wire/smp.hpp"

namespace ipoib::fabric::simulated {

/// The next stage of a directed-route SMP.
struct Hop {
    enum class To : std::uint8_t {
        nowhere,     ///< its hop pointer, hop count or path is wrong: discarded
        port,        ///< out of `port`
        lid,         ///< the directed part of its route is over: by the forwarding table to `lid`
        management,  ///< this switch is where it goes
    };
    To to = To::nowhere;
    std::uint8_t port = 0;
    std::uint16_t lid = 0;
    friend bool operator==(const Hop&, const Hop&) = default;
};

/// Takes an SMP, a whole one of class 0x81, one hop further at a switch with `ports` ports: it came in at `in_port`, or
/// is the switch's own answer. Updates hop pointer and return path. Nothing that the SMP says leads out of the paths.
[[nodiscard]] Hop take_hop(wire::MutableOctets smp, std::uint8_t in_port, unsigned ports) noexcept;

}  // namespace ipoib::fabric::simulated
