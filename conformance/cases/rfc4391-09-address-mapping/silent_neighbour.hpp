// SPDX-License-Identifier: GPL-2.0-or-later
// Questions for neighbours that the DUT does not know: forgotten ones, and those that do not answer today but may do so
// tomorrow.
#pragma once

#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

/// Of such questions those that all hear. Whom the DUT knows it may ask alone, at any time, whether it is there still:
/// RFC 1122, 2.3.2.1; RFC 4861, 7.3.
inline Expectation to_a_group(const Expectation& question) {
    return question.such_that("to a group", [](const Packet& p, const Situation&) { return p.is_multicast; });
}

/// Steps: the DUT asks for an address that nobody has, and asks again when it is told to some time after it gave up.
inline void asks_for_silent_again(Bench& bench, const IpAddress& address, const requirements::Requirement& judged) {
    const auto question = address_request_for(address).sent_anywhere();
    bench.step("It asks for an address that nobody has", judged);
    // What is sent to a group without members is not seen.
    if (!address.is_v4()) bench.sa.join(IpAddress::v6(solicited_node_group(address.octets)));
    bench.dut.resolves(address);
    bench.precondition(question, within(5s));
    // RFC 1122, 2.3.2.1 has it ask once a second at most; nobody asks much longer than this.
    bench.pass_time(6s);
    bench.step("It asks for it again later", judged);
    // BSD leaves who did not answer in peace for 20 s.
    for (int i = 0; i < 12 && !bench.happens(question, within(2s)); ++i) bench.dut.resolves(address);
    bench.require(question, within(0s));
}

}  // namespace ipoib::conformance
