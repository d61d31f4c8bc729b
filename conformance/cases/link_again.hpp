// SPDX-License-Identifier: GPL-2.0-or-later
// Whether the DUT is on the link, before something changes and afterwards.
#pragma once

#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

/// Who has the DUT's IPv4 address? Asked in the broadcast group, up to five times.
inline bool answers_broadcasts(Bench& bench) {
    const auto reply = arp_reply().sent_anywhere();
    const auto before = bench.count(reply);
    for (int i = 0; i < 5 && bench.count(reply) == before; ++i) bench.send_until(arp_request(), reply, within(2s));
    return bench.count(reply) != before;
}

inline void begin_on_the_link(Bench& bench) {
    bench.step("The DUT is in the broadcast group, and hears it");
    bench.precondition(bench.sa.has_dut_as_full_member(bench.link().broadcast_gid(), within(5s)),
                       "the DUT is FullMember");
    bench.precondition(answers_broadcasts(bench), "it answers who asks for its address");
}

/// Whether the DUT answers who looks for it, wherever it is now.
inline bool require_found(Bench& bench) {
    const bool is_found = bench.dut.is_found_again();
    bench.require(is_found, "a DUT that is on the link", "nobody who answers, or is known to the SA, at its address");
    return is_found;
}

/// Whether it is there.
inline bool require_link(Bench& bench) {
    const bool is_member = bench.sa.has_dut_as_full_member(bench.link().broadcast_gid(), within(30s));
    bench.require(is_member, "FullMember of the broadcast group", "not at the SA");
    const bool hears = answers_broadcasts(bench);
    bench.require(hears, "an answer to who asks for its address in the broadcast group", "none");
    return is_member && hears;
}

}  // namespace ipoib::conformance
