// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case link_address_is_of_the_port{
    .id = "IPOIB-4391-9.1.1-VAL-002",
    .title = "The link-layer address has a GID of the DUT's port and the QPN that takes its packets",
    .checks = {&rfc4391::link_address_gid, &rfc4391::link_address_port_gid, &rfc4391::link_address_flags_tx,
               &rfc4391::link_address_format},
    .pass_if =
        "the GID in an ARP reply is the one that the SA knows for its sender's LID; an echo request to the QPN in "
        "it is answered",
    .tags = {"arp"},
    .steps =
        [](Bench& bench) {
            const auto reply = arp_reply().such_that("with addresses of 20 octets", [](const Packet& p, auto&) {
                return static_cast<bool>(p.arp_addresses);
            });
            bench.step("The GID", rfc4391::link_address_gid, rfc4391::link_address_port_gid);
            bench.send(arp_request());
            bench.inspect(reply.with(ArpAddresses::sha_gid, bench.situation().dut.gid), within(1s));
            bench.same_step("The flags", rfc4391::link_address_flags_tx);
            // RFC 4755, 3.1 has given the two highest a meaning.
            bench.inspect(reply.where(
                              ArpAddresses::sha_flags,
                              [](std::uint8_t flags, auto&) { return (flags & ~(flag_rc | flag_uc)) == 0; },
                              "0 in the six reserved bits"),
                          within(1s));
            bench.step("The QPN", rfc4391::link_address_format);
            bench.send(echo_request());
            const bool without_grh = bench.happens(echo_reply(), within(1s));
            bench.send(echo_request_with_grh());
            bench.require(without_grh || bench.happens(echo_reply(), within(1s)),
                          "an answer to an echo request to the QPN of the DUT's link-layer address", "none");
        },
};

}  // namespace ipoib::conformance
