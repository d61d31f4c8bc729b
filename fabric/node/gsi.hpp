// SPDX-License-Identifier: GPL-2.0-or-later
// The general services interface of a port, QP1, as clients of management classes need it. IBTA Vol 1, 13.5.
#pragma once

#include "fabric/loop.hpp"
#include "fabric/node/mad_frame.hpp"
#include "fabric/port.hpp"

#include <functional>

namespace ipoib::fabric {

/// A datagram as its queue pair gets it. Valid during the call.
struct Datagram {
    Time time{};
    const wire::Packet* packet = nullptr;  ///< the whole frame, decoded
    bool is_cut = false;                   ///< octets of the answer are missing: its way carries no more
};

class Gsi {
public:
    virtual ~Gsi() = default;
    [[nodiscard]] virtual Loop& loop() noexcept = 0;
    /// P_Keys: the table up to its last entry that is set; an entry that is not is 0.
    [[nodiscard]] virtual PortFacts facts() const = 0;
    /// The low half of a TransactionID: another one each time, whoever on this port asks.
    [[nodiscard]] virtual std::uint32_t new_transaction() noexcept = 0;
    /// MADs (256 octets) of one management class that come to QP1; at most one handler for each class, none ends it.
    virtual void on_mad(wire::MgmtClass mgmt_class, std::function<void(const Datagram&)> handler) = 0;
    /// Sends a MAD. `patience`: for so long its sender waits for a response; 0: it waits for none.
    virtual void send_mad(const MadPath& path, const MadOctets& mad, Duration patience) = 0;
};

}  // namespace ipoib::fabric
