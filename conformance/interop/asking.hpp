// SPDX-License-Identifier: GPL-2.0-or-later
// A request to the adapter of one of the two: what goes wrong is of that one.
#pragma once

#include "conformance/interop/meeting.hpp"

namespace ipoib::conformance::interop {

template <class Ask>
auto Meeting::ask(Side side, const Ask& request) {
    try {
        return request(place_.dut(side));
    } catch (const ChannelBroken& why) {
        throw SideBroken(side, why.what());
    } catch (const ControlFailed& why) {
        throw SideRefused(side, why.what());
    } catch (const Unsupported& why) {
        throw Unsupported(std::string(name(side)) + ": " + why.what());
    }
}

}  // namespace ipoib::conformance::interop
