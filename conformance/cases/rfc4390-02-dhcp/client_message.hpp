// SPDX-License-Identifier: GPL-2.0-or-later
// What RFC 4390, 2.1 says of every message of a client.
#pragma once

#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

/// How a client names itself. RFC 4361, 6.1: the same way in all messages.
class ClientName {
public:
    /// Of a message, which has come within the time or not at all.
    ClientName(Bench& bench, const Expectation& message, Within time) {
        const auto named = message.such_that("with a client identifier", [this](const Packet& p, const Situation&) {
            const auto identifier = find_dhcp_option(udp_payload(p), dhcp_option::client_identifier);
            if (identifier) octets_.assign(identifier->begin(), identifier->end());
            return identifier.has_value();
        });
        (void)bench.happens(named, time);
    }
    /// Another message that names another client.
    [[nodiscard]] Expectation is_not_in(const Expectation& message) const {
        return message.such_that(
            "with another client identifier than before", [own = octets_](const Packet& p, const Situation&) {
                const auto identifier = find_dhcp_option(udp_payload(p), dhcp_option::client_identifier);
                return identifier && !own.empty() && !std::ranges::equal(*identifier, own);
            });
    }

private:
    std::vector<std::uint8_t> octets_;
};

inline void judge_client_message(Bench& bench, const Expectation& message, const ClientName& name) {
    const auto soon = within(1s);
    bench.same_step("htype", rfc4390::htype);
    bench.inspect(with_dhcp(message, Dhcp::htype, Dhcp::infiniband), soon);
    bench.same_step("hlen", rfc4390::hlen);
    bench.inspect(with_dhcp(message, Dhcp::hlen, 0), soon);
    bench.same_step("chaddr", rfc4390::chaddr_zero);
    bench.inspect(with_dhcp(message, Dhcp::chaddr, {}), soon);
    bench.same_step("A client identifier", rfc4390::client_identifier_present);
    bench.inspect(with_client_identifier(message), soon);
    bench.same_step("The form of the client identifier, the same in each message", rfc4390::client_identifier_format);
    if (bench.happens(message.such_that("with an identifier", has_client_identifier), soon))
        bench.inspect(with_duid(message), soon);
    bench.forbid_so_far(name.is_not_in(message));
}

}  // namespace ipoib::conformance
