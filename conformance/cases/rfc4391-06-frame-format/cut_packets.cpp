// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case cut_packets_do_no_harm{
    .id = "IPOIB-4391-6-INV-004",
    .title = "Packets that are cut anywhere do no harm",
    .checks = {&rfc4391::encap_type_demultiplexing},
    .pass_if =
        "after every cut of valid packets, down to an encapsulation header with nothing behind it and to nothing "
        "at all, ordinary requests are answered",
    .tags = {"encap", "robust", "ipv4", "ipv6"},
    .in_both_families = true,
    .lasts_at_most = 15s,
    .steps =
        [](Bench& bench) {
            constexpr std::size_t payload = 8;
            constexpr std::uint16_t discard = 9;
            const auto& demultiplexing = rfc4391::encap_type_demultiplexing;
            bench.step("Ordinary traffic is answered", demultiplexing);
            bench.control();
            bench.must_outlive(
                "Datagrams of no octet, and of an encapsulation header alone",
                {echo_request().cut_to(0), echo_request_with_grh().cut_to(0), udp_broadcast(discard).cut_to(0),
                 echo_request().cut_to(Encap::size), echo_request_with_grh().cut_to(Encap::size),
                 udp_broadcast(discard).cut_to(Encap::size), arp_request().cut_to(Encap::size)},
                demultiplexing);
            for (const auto& whole : {echo_request(payload), echo_request_with_grh(payload),
                                      udp_to_dut(discard, payload), udp_broadcast(discard, payload)})
                bench.must_outlive_cuts(whole, demultiplexing);
        },
};

}  // namespace ipoib::conformance
