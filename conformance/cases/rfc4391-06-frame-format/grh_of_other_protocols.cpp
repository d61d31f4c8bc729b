// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case grh_of_other_protocols_does_no_harm{
    .id = "IPOIB-4391-6-INV-008",
    .title = "Packets whose GRH, BTH or padding says something else do no harm",
    .checks = {&rfc4391::encap_type_demultiplexing},
    .pass_if =
        "after a GRH with another next header, version or length, another opcode, and more padding than there is, "
        "ordinary requests are answered",
    .tags = {"encap", "grh", "robust", "ipv4", "ipv6"},
    .needs = Ability::any_frame,
    .in_both_families = true,
    .steps =
        [](Bench& bench) {
            const auto& demultiplexing = rfc4391::encap_type_demultiplexing;
            const auto with_grh = echo_request_with_grh();
            bench.step("Ordinary traffic is answered", demultiplexing);
            bench.control();
            bench.must_outlive("GRHs with another next header",
                               {with_grh.with(Grh::next_header, 0), with_grh.with(Grh::next_header, 17),
                                with_grh.with(Grh::next_header, 58), with_grh.with(Grh::next_header, 59),
                                with_grh.with(Grh::next_header, 0xff)},
                               demultiplexing);
            bench.must_outlive("GRHs of another version or length",
                               {with_grh.with(Grh::version, 0), with_grh.with(Grh::version, 4),
                                with_grh.with(Grh::payload_length, 0), with_grh.with(Grh::payload_length, 1),
                                with_grh.with(Grh::payload_length, 0xffff), with_grh.with(Grh::hop_limit, 0)},
                               demultiplexing);
            bench.must_outlive(
                "Padding where there is nothing to pad",
                {echo_request().cut_to(0).with(Bth::pad, 3), echo_request().cut_to(Encap::size).with(Bth::pad, 3),
                 with_grh.cut_to(0).with(Bth::pad, 1)},
                demultiplexing);
        },
};

}  // namespace ipoib::conformance
