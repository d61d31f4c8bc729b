// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case overlapping_fragments_do_no_harm{
    .id = "IPOIB-4391-6-INV-007",
    .title = "Fragments that overlap, contradict each other or make too long a datagram do no harm",
    .checks = {&rfc4391::encap_type_demultiplexing},
    .pass_if = "after them, ordinary requests are answered",
    .tags = {"encap", "robust", "ipv4", "ipv6"},
    .in_both_families = true,
    .lasts_at_most = 15s,
    .steps =
        [](Bench& bench) {
            const auto& demultiplexing = rfc4391::encap_type_demultiplexing;
            constexpr std::uint16_t id = 0x4950, last_offset = 0x1fff;
            bench.step("Ordinary traffic is answered", demultiplexing);
            bench.control();
            bench.must_outlive("Fragments that overlap",
                               {echo_fragment({id, 0, 48, true}), echo_fragment({id, 2, 48, true}),
                                echo_fragment({id, 1, 8, true}), echo_fragment({id, 4, 40, false})},
                               demultiplexing);
            bench.must_outlive("A fragment within another, and the same twice",
                               {echo_fragment({id + 1, 0, 64, true}), echo_fragment({id + 1, 3, 16, true}),
                                echo_fragment({id + 1, 0, 64, true}), echo_fragment({id + 1, 3, 16, false})},
                               demultiplexing);
            bench.must_outlive("Two last fragments, and one behind the last",
                               {echo_fragment({id + 2, 4, 8, false}), echo_fragment({id + 2, 2, 8, false}),
                                echo_fragment({id + 2, 9, 16, true}), echo_fragment({id + 2, 0, 64, true})},
                               demultiplexing);
            bench.must_outlive("Fragments beyond the longest datagram",
                               {echo_fragment({id + 3, 0, 64, true}), echo_fragment({id + 3, last_offset, 64, false}),
                                echo_fragment({id + 4, last_offset, 800, true})},
                               demultiplexing);
            bench.must_outlive("Fragments of no octet, and of no multiple of eight",
                               {echo_fragment({id + 5, 0, 0, true}), echo_fragment({id + 5, 1, 0, false}),
                                echo_fragment({id + 6, 0, 7, true}), echo_fragment({id + 6, 1, 13, true}),
                                echo_fragment({id + 7, 0, 0, false}), echo_fragment({id + 8, 1, 1, false})},
                               demultiplexing);
            bench.must_outlive_cuts(echo_fragment({id + 9, 0, 16, true}), demultiplexing);
        },
};

}  // namespace ipoib::conformance
