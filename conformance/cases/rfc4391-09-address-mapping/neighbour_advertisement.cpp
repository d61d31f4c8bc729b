// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case neighbour_advertisement_in_full{
    .id = "IPOIB-4391-9.3-VAL-001",
    .title = "A Neighbour Advertisement carries the link-layer address in the right option",
    .checks = {&rfc4391::nd_option_used, &rfc4391::nd_option_type, &rfc4391::nd_option_length,
               &rfc4391::nd_option_padding, &rfc4391::nd_option_address},
    .pass_if = "a Target Link-layer Address option of 24 octets: two zero octets, then flags, QPN and GID",
    .tags = {"nd", "ipv6"},
    .steps =
        [](Bench& bench) {
            const auto& now = bench.situation();
            if (now.dut.ipv6.is_zero()) bench.not_applicable("the DUT tells no IPv6 address");
            const auto with_option = neighbour_advertisement().with_link_address_option();
            bench.step("A solicitation is answered with a link-layer address", rfc4391::nd_option_used);
            const auto group = bench.sa.join(IpAddress::v6(solicited_node_group(now.dut.ipv6)));
            bench.send_until(neighbour_solicitation(group.mlid()), neighbour_advertisement(), within(1s));
            bench.inspect(neighbour_advertisement().claiming_link_address_option(), within(2s));
            bench.same_step("As Target Link-layer Address", rfc4391::nd_option_type);
            bench.inspect(with_option.with_option(LinkAddressOption::type, LinkAddressOption::target), within(2s));
            bench.same_step("In 24 octets", rfc4391::nd_option_length);
            bench.inspect(with_option.with_option(LinkAddressOption::length, 3), within(2s));
            bench.same_step("Behind two zero octets", rfc4391::nd_option_padding);
            bench.inspect(with_option.with_option(LinkAddressOption::padding, 0), within(2s));
            // Flags and the first octet of a QPN may be zero, too.
            Gid two_octets_early;
            std::copy(now.dut.gid.octets.begin() + 2, now.dut.gid.octets.end(), two_octets_early.octets.begin());
            const auto early = with_option.such_that("padded behind its address", [=](const Packet& p, auto&) {
                const auto option = p.target_option ? p.target_option : p.source_option;
                return option && option[LinkAddressOption::gid] == two_octets_early;
            });
            if (bench.count(early) > 0) bench.forbid_so_far(early);
            bench.same_step("The address is the one that ARP tells", rfc4391::nd_option_address);
            bench.inspect(with_option.with_option(LinkAddressOption::qpn, now.dut.qpn), within(2s));
        },
};

}  // namespace ipoib::conformance
