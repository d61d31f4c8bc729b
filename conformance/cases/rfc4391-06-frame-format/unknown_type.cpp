// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case type_selects_the_protocol{
    .id = "IPOIB-4391-6-INV-002",
    .title = "A receiver goes by the Type of the encapsulation header",
    .checks = {&rfc4391::encap_type_demultiplexing},
    .pass_if =
        "an echo request under another Type than that of IPv4 is not answered; ordinary ones before and after are",
    .tags = {"encap", "ipv4"},
    .steps =
        [](Bench& bench) {
            for (const auto type : std::array<std::uint16_t, 3>{0x88b5, 0x8035, 0x86dd}) {
                bench.step("An IPv4 echo request under Type " + hex(type, 4) + " is not taken for IPv4");
                bench.control();
                bench.send(echo_request().with(Encap::type, EtherType{type}));
                bench.forbid(echo_reply(), within(1s));
            }
        },
};

}  // namespace ipoib::conformance
