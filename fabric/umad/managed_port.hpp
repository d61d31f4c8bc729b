// SPDX-License-Identifier: GPL-2.0-or-later
// A port of this host with all by which it is managed: its MAD device, its GSI, a client of its subnet administrator.
#pragma once

#include "fabric/umad/device.hpp"
#include "fabric/umad/port.hpp"

#include <functional>
#include <string>

namespace ipoib::fabric {

class ManagedPort {
public:
    /// `sm_key`: with which the SA tells who is a member of a group; 0: not known. Throws std::invalid_argument when
    /// the options name no port, std::runtime_error when it cannot be used.
    ManagedPort(Loop& loop, const UmadOptions& options, std::uint64_t sm_key);

    /// Every MAD that is sent or comes, as a frame that was rebuilt.
    std::function<void(const Sighting&)> tap;
    /// Returns when the port is active and the SA has answered; throws std::runtime_error when it is not so in time.
    void bring_up(Time deadline);
    /// Why the port cannot be used any more; empty as long as it can.
    [[nodiscard]] const std::string& problem() const noexcept { return gsi_.problem(); }
    [[nodiscard]] const UmadDevice& device() const noexcept { return device_; }
    [[nodiscard]] UmadPort& port() noexcept { return port_; }
    [[nodiscard]] PortFacts facts() const { return gsi_.facts(); }

private:
    Loop& loop_;
    UmadDevice device_;
    UmadGsi gsi_;
    UmadPort port_;
};

}  // namespace ipoib::fabric
