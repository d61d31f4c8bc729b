// SPDX-License-Identifier: GPL-2.0-or-later
// A DUT whose port is a limited member of the partition.
#pragma once

#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

/// The DUT comes up as a limited member, and is asked for its address: its answer. The case is not applicable where it
/// gives none.
inline Expectation answer_of_limited_dut(Bench& bench) {
    const auto port = port_of_dut(bench);
    const auto full = static_cast<std::uint16_t>(bench.link().p_key | full_membership);
    bench.step("The DUT's port becomes a limited member of the partition");
    bench.dut->down();
    bench.fabric.change(SetPKey{port, full, false});
    bench.fabric.change(SetPKey{port, limited_p_key(full)});
    bench.dut.begins_to_come_up();
    bench.step("The tester, a full member, asks it");
    const auto answer = address_reply().sent_anywhere();
    bench.send_until(bench.address_request_to_group(), answer, within(5s));
    if (!bench.happens(answer, within(0ms)))
        bench.not_applicable("the DUT does not answer as a limited member of the partition");
    return answer;
}

}  // namespace ipoib::conformance
