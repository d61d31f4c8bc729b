// SPDX-License-Identifier: GPL-2.0-or-later
// A port's subscriptions to the reports of multicast groups created and deleted. RFC 4391, 10; RFC 4392, 1.3.2.3.
#pragma once

#include "fabric/loop.hpp"
#include "stack/lifetime.hpp"

#include <map>

namespace ipoib::stack {

class Node;

/// Traps 66 and 67 for every MGID, once for all interfaces of the port.
class Subscriptions {
public:
    explicit Subscriptions(Node& node) : node_(node) {}
    /// Subscribes where that has not been done.
    void ensure();
    /// Subscribes again: the SA has forgotten.
    void renew();
    /// The port was gone, and with it what it had subscribed to: who needs it subscribes anew.
    void forget();
    /// Ends the subscriptions.
    void withdraw();

private:
    std::map<std::uint16_t, std::uint32_t> open_;  ///< transactions, by trap number
    void ask(std::uint16_t trap_number, bool is_subscribed, fabric::Duration backoff);

    Node& node_;
    std::map<std::uint16_t, bool> asked_;  ///< by trap number
    Lifetime lifetime_;
};

}  // namespace ipoib::stack
