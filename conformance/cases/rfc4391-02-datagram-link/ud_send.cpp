// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case ip_goes_over_ud{
    .id = "IPOIB-4391-2-VAL-001",
    .title = "IPv4 and IPv6 go over the Unreliable Datagram transport",
    .checks = {&rfc4391::ud_transport},
    .pass_if = "echo requests over UD are answered by UD SEND Only packets",
    .tags = {"ipv4", "ipv6"},
    .steps =
        [](Bench& bench) {
            const auto is_send_only = [](const Opcode& opcode, auto&) {
                return opcode == Opcode::ud_send_only || opcode == Opcode::ud_send_only_immediate;
            };
            bench.step("An ICMP echo request over UD");
            bench.send(echo_request());
            bench.inspect(echo_reply().where(Bth::opcode, is_send_only, "UD SEND Only"), within(2s));
            if (bench.situation().dut.ipv6.is_zero()) return bench.note("the DUT tells no IPv6 address");
            bench.step("An ICMPv6 echo request over UD");
            bench.send(echo_request6());
            bench.inspect(echo_reply6().where(Bth::opcode, is_send_only, "UD SEND Only"), within(3s));
        },
};

}  // namespace ipoib::conformance
