// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case type_selects_the_protocol{
    .id = "IPOIB-4391-6-INV-002",
    .title = "A receiver goes by the Type of the encapsulation header",
    .checks = {&rfc4391::encap_type_demultiplexing},
    .pass_if =
        "an echo request under another Type than that of its protocol is not answered; ordinary ones before and after "
        "are",
    .tags = {"encap", "ipv4", "ipv6"},
    .in_both_families = true,
    .steps =
        [](Bench& bench) {
            const std::uint16_t of_the_other_ip = bench.situation().is_ipv6() ? 0x0800 : 0x86dd;
            for (const std::uint16_t type : {std::uint16_t{0x88b5}, std::uint16_t{0x8035}, of_the_other_ip}) {
                bench.step("An echo request under Type " + hex(type, 4) + " is not taken for IP");
                bench.control();
                bench.send(echo_request().with(Encap::type, EtherType{type}));
                bench.forbid(echo_reply(), within(1s));
            }
        },
};

}  // namespace ipoib::conformance
