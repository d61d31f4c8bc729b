// SPDX-License-Identifier: GPL-2.0-or-later
// Who owed what: an exchange between two is a chain of frames, each owed by one of them once the one before it got
// there. The first that is missing is charged to who owed it.
#pragma once

#include "conformance/bench/recorder.hpp"
#include "conformance/interop/side.hpp"
#include "protocol/requirements/requirement.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace ipoib::conformance::interop {

/// Why a frame does not get where it was meant to: "it goes to queue pair 0x40, against has 0x48". Empty where it does.
struct Astray {
    std::string why{};
    const requirements::Requirement* by = nullptr;  ///< that its sender owes
};

/// One frame of the chain.
struct Leg {
    Side owes;
    const requirements::Requirement* by;
    std::string what;  ///< "an ARP reply"
    std::function<bool(const wire::Packet&)> is_it;
    /// What keeps the frame from the other one, though it is meant for it. Null: nothing ever does.
    std::function<Astray(const wire::Packet&)> astray{};
    /// It counts only once so many legs were seen, or need not be.
    std::size_t after = 0;
};

/// What the owner of the chain's last frame's receiver makes of it: told by an adapter, seen in no frame.
struct Effect {
    Side owes;
    const requirements::Requirement* by;
    std::string what;  ///< "that the ping was answered"
};

/// How far it came.
struct Reached {
    std::size_t legs = 0;   ///< so many were seen, or need not be, since a later one was
    std::size_t frame = 0;  ///< of the last of them, from 1; 0: of none
    /// The earliest of the leg before that one: since when it was asked for. 0: none.
    std::size_t asked_frame = 0;
    /// Of the next one: where it went instead.
    std::size_t stray_frame = 0;
    Astray stray;
};

/// Looks for the legs among the frames from `begin` (an index). `sender` tells whose a frame is. A leg before one that
/// was seen needs not be there: who asks for an address may know it already.
[[nodiscard]] Reached reached(const std::vector<Leg>& legs, const Recorder& recorder, std::size_t begin,
                              const std::function<std::optional<Side>(const wire::Packet&)>& sender);

}  // namespace ipoib::conformance::interop
