// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

namespace {

/// A Neighbour Advertisement whose option has the address where it belongs: else there is no GID to judge.
Expectation advertisement_with_address() {
    return neighbour_advertisement().such_that(
        "with an option that can be judged", [](const Packet& p, const Situation& s) {
            if (!p.target_option) return false;
            const auto& gid = s.dut.gid.octets;
            const auto* before_padding = p.target_option.data() + LinkAddressOption::gid.at.bit / 8 - 2;
            return !std::equal(gid.begin(), gid.end(), before_padding);
        });
}

}  // namespace

const Case link_address_is_of_the_port{
    .id = "IPOIB-4391-9.1.1-VAL-002",
    .title = "The link-layer address has a GID of the DUT's port and the QPN that takes its packets",
    .checks = {&rfc4391::link_address_gid, &rfc4391::link_address_port_gid, &rfc4391::link_address_flags_tx,
               &rfc4391::link_address_format},
    .pass_if =
        "the GID in an ARP reply, and in a Neighbour Advertisement, is the one that the SA knows for its sender's LID; "
        "an echo request to the QPN in it is answered",
    .tags = {"arp", "nd", "ipv4", "ipv6"},
    .in_both_families = true,
    .steps =
        [](Bench& bench) {
            const bool is_ipv6 = bench.situation().is_ipv6();
            const auto gid = bench.situation().dut.gid;
            const auto arp = arp_reply().such_that("with addresses of 20 octets", [](const Packet& p, auto&) {
                return static_cast<bool>(p.arp_addresses);
            });
            const auto nd = advertisement_with_address();
            // RFC 4755, 3.1 has given the two highest a meaning.
            const auto are_right = [](std::uint8_t flags) { return (flags & ~(flag_rc | flag_uc)) == 0; };
            const auto right_flags = "0 in the six reserved bits";
            bench.step("The GID", rfc4391::link_address_gid, rfc4391::link_address_port_gid);
            bench.send_until(bench.address_request_to_group(), is_ipv6 ? nd : arp, within(1s));
            bench.inspect(is_ipv6 ? nd.with_option(LinkAddressOption::gid, gid) : arp.with(ArpAddresses::sha_gid, gid),
                          within(1s));
            bench.same_step("The flags", rfc4391::link_address_flags_tx);
            bench.inspect(is_ipv6
                              ? nd.where_option(LinkAddressOption::flags, are_right, right_flags)
                              : arp.where(
                                    ArpAddresses::sha_flags,
                                    [are_right](std::uint8_t flags, auto&) { return are_right(flags); }, right_flags),
                          within(1s));
            if (is_ipv6) {
                bench.same_step("The QPN is the one that ARP tells", rfc4391::link_address_format);
                return bench.inspect(nd.with_option(LinkAddressOption::qpn, bench.situation().dut.qpn), within(1s));
            }
            bench.step("The QPN", rfc4391::link_address_format);
            bench.send(echo_request());
            const bool without_grh = bench.happens(echo_reply(), within(1s));
            bench.send(echo_request_with_grh());
            bench.require(without_grh || bench.happens(echo_reply(), within(1s)),
                          "an answer to an echo request to the QPN of the DUT's link-layer address", "none");
        },
};

}  // namespace ipoib::conformance
