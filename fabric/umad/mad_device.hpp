// SPDX-License-Identifier: GPL-2.0-or-later
// One port of an HCA for management datagrams alone, as the host's MAD layer lends it to a program.
#pragma once

#include "fabric/node/mad_frame.hpp"
#include "fabric/port.hpp"

#include <optional>
#include <string>
#include <vector>

namespace ipoib::fabric {

/// What came from a MAD layer.
struct ReceivedMad {
    MadPath path;
    /// The MAD, or an answer of many segments put together: the headers of the first, then the data of all. Hostile.
    std::vector<std::uint8_t> octets;
    bool is_own = false;  ///< sent from here, and given back since no response came
};

/// Subnet administration (class 3) at one port. Nothing waits.
class MadDevice {
public:
    virtual ~MadDevice() = default;
    /// As the host knows the port now. It tells no MTU, and there is no queue pair.
    [[nodiscard]] virtual PortFacts facts() = 0;
    /// Sends one MAD; why it cannot, or empty. A request needs a `patience`: for so long a response is let through.
    [[nodiscard]] virtual std::string send(const MadPath& path, const MadOctets& mad, Duration patience) = 0;
    /// What has come, one at a time. Throws std::runtime_error when the device is gone.
    [[nodiscard]] virtual std::optional<ReceivedMad> receive() = 0;
    /// Readable when something has come; -1: there is no such descriptor, one has to look.
    [[nodiscard]] virtual int descriptor() const noexcept = 0;
    /// Whether the SA's reports come here.
    [[nodiscard]] virtual bool hears_reports() const noexcept = 0;
};

}  // namespace ipoib::fabric
