// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case other_types_do_no_harm{
    .id = "IPOIB-4391-6-INV-003",
    .title = "Packets of other Types do no harm",
    .checks = {&rfc4391::encap_type_demultiplexing, &rfc4391::encap_other_types},
    .pass_if =
        "after packets with Types of other protocols, known and unknown, ordinary echo requests are answered, and to "
        "the tester's queue pair, whatever would be told of it if these were ARP or IPv6",
    .tags = {"encap", "robust", "ipv4", "ipv6"},
    .in_both_families = true,
    .steps =
        [](Bench& bench) {
            bench.step("Packets of other Types");
            bench.control();
            const auto qpn = bench.situation().tester.qpn;
            for (const auto type :
                 std::array<std::uint16_t, 7>{0x8035, 0x88ca, 0x8906, 0x1234, 0x0000, 0x05dc, 0xffff}) {
                bench.send(echo_request().with(Encap::type, EtherType{type}));
                bench.send(announcement()
                               .with_either(ArpAddresses::sha_qpn, LinkAddressOption::qpn, qpn ^ 0x000800)
                               .with(Encap::type, EtherType{type}));
            }
            bench.pass_time(500ms);
            bench.send_until(echo_request(), echo_reply(), within(2s));
            bench.require(echo_reply().with(Bth::dest_qp, qpn), within(0ms));
        },
};

}  // namespace ipoib::conformance
