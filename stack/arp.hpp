// SPDX-License-Identifier: GPL-2.0-or-later
// Address resolution in IPv4. RFC 4391, 9.2; RFC 826.
#pragma once

#include "protocol/wire/packet.hpp"
#include "stack/framing.hpp"

namespace ipoib::stack {

class AddressResolution {
public:
    explicit AddressResolution(Interface& interface) : interface_(interface) {}
    /// Asks for an address: the broadcast group, or one peer that is known to have had it.
    void request(std::uint32_t target, const Peer* peer);
    void receive(const wire::Packet& packet);

private:
    [[nodiscard]] std::vector<std::uint8_t> message(std::uint16_t operation, std::uint32_t sender,
                                                    const HardwareAddress& target_hardware, std::uint32_t target) const;
    void reply(const HardwareAddress& requester, std::uint32_t requester_ip, std::uint32_t asked_for,
               std::uint32_t source_qp);

    Interface& interface_;
};

}  // namespace ipoib::stack
