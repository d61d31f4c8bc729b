// SPDX-License-Identifier: GPL-2.0-or-later
// Who takes part in a case and on which link: what a message takes its defaults from.
#pragma once

#include "protocol/build/ipoib.hpp"
#include "protocol/wire/cm.hpp"
#include "protocol/wire/ip_address.hpp"

namespace ipoib::conformance {

/// Which IP a case speaks.
enum class Family : std::uint8_t { ipv4, ipv6 };

/// The parties, the link, and the number that ties an answer to its question.
struct Situation {
    build::Node tester;  ///< as it presents itself
    /// Its port's GID as the SA has it, the QPN as it says itself.
    build::Node dut;   ///< as far as it is known; a zero LID: not resolved yet
    build::Link link;  ///< the broadcast group as the SA gave it
    Family family = Family::ipv4;
    std::uint16_t nonce = 0;  ///< of the message sent last: ICMP identifier, UDP source port, communication ID ...
    /// What the Service-ID begins with at which the DUT takes connections. RFC 4755, 3.5.
    std::uint8_t service_prefix = wire::IpoibServiceId::ietf;

    [[nodiscard]] bool is_ipv6() const noexcept { return family == Family::ipv6; }
    /// The tester's address of the family.
    [[nodiscard]] wire::IpAddress tester_address() const noexcept {
        return is_ipv6() ? wire::IpAddress::v6(tester.ipv6) : wire::IpAddress::v4(tester.ipv4);
    }
    /// The DUT's, if it tells one.
    [[nodiscard]] wire::IpAddress dut_address() const noexcept {
        return is_ipv6() ? wire::IpAddress::v6(dut.ipv6) : wire::IpAddress::v4(dut.ipv4);
    }
    /// Octets of an IP header of the family.
    [[nodiscard]] std::size_t ip_header() const noexcept { return is_ipv6() ? wire::Ipv6::size : wire::Ipv4::size; }
    /// Octets of an IP packet that the link carries. RFC 4391, 7.
    [[nodiscard]] std::size_t ip_mtu() const noexcept { return (std::size_t{128} << link.mtu) - wire::Encap::size; }
};

}  // namespace ipoib::conformance
