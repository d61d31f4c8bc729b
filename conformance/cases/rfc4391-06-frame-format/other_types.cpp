// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case other_types_do_no_harm{
    .id = "IPOIB-4391-6-INV-003",
    .title = "Packets of other Types do no harm",
    .checks = {&rfc4391::encap_type_demultiplexing, &rfc4391::encap_other_types},
    .pass_if = "after packets with Types of other protocols, known and unknown, ordinary echo requests are answered",
    .tags = {"encap", "robust", "ipv4", "ipv6"},
    .in_both_families = true,
    .steps =
        [](Bench& bench) {
            bench.step("Packets of other Types");
            bench.control();
            for (const auto type : std::array<std::uint16_t, 7>{0x8035, 0x88ca, 0x8906, 0x1234, 0x0000, 0x05dc, 0xffff})
                bench.send(echo_request().with(Encap::type, EtherType{type}));
            bench.pass_time(500ms);
            bench.send(echo_request());
            bench.require(echo_reply(), within(2s));
        },
};

}  // namespace ipoib::conformance
