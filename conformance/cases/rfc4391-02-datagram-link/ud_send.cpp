// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {
namespace {

constexpr std::size_t headers_in_ipv4 = Ipv4::size + Icmp::size, headers_in_ipv6 = Ipv6::size + Icmp::size;

/// Lengths of IP packets: what differs in the frame's padding, and around powers of two. Whether long ones arrive is
/// for the cases on the MTU.
std::vector<std::size_t> some_lengths(std::size_t shortest, std::size_t longest) {
    std::vector<std::size_t> lengths;
    constexpr std::size_t first_power = 128, last_power = 512;
    for (auto length = shortest; length <= shortest + 8; ++length) lengths.push_back(length);
    for (auto power = first_power; power <= last_power; power *= 2)
        for (auto length = power - 1; length <= power + 2; ++length) lengths.push_back(length);
    std::erase_if(lengths, [&](std::size_t length) { return length > longest; });
    return lengths;
}

}  // namespace

const Case ip_goes_over_ud{
    .id = "IPOIB-4391-2-VAL-001",
    .title = "IPv4 and IPv6 go over the Unreliable Datagram transport",
    .checks = {&rfc4391::ud_transport},
    .pass_if =
        "echo requests over UD are answered by UD SEND Only packets, of whatever length up to 514, also of headers "
        "alone",
    .tags = {"ipv4", "ipv6"},
    .lasts_at_most = 60s,
    .steps =
        [](Bench& bench) {
            const auto is_send_only = [](const Opcode& opcode, auto&) {
                return opcode == Opcode::ud_send_only || opcode == Opcode::ud_send_only_immediate;
            };
            const auto mtu = bench.situation().ip_mtu();
            bench.step("An ICMP echo request over UD");
            bench.send(echo_request());
            bench.inspect(echo_reply().where(Bth::opcode, is_send_only, "UD SEND Only"), within(2s));
            bench.step("ICMP echo requests of other lengths");
            for (const auto length : some_lengths(headers_in_ipv4, mtu)) {
                bench.send_until(echo_request(length - headers_in_ipv4), echo_reply(), within(1s));
                bench.require(echo_reply(), within(0ms));
            }
            if (bench.situation().dut.ipv6.is_zero()) return bench.note("the DUT tells no IPv6 address");
            bench.step("An ICMPv6 echo request over UD");
            bench.send(echo_request6());
            bench.inspect(echo_reply6().where(Bth::opcode, is_send_only, "UD SEND Only"), within(3s));
            bench.step("ICMPv6 echo requests of other lengths");
            for (const auto length : some_lengths(headers_in_ipv6, mtu)) {
                bench.send_until(echo_request6(length - headers_in_ipv6), echo_reply6(), within(1s));
                bench.require(echo_reply6(), within(0ms));
            }
        },
};

}  // namespace ipoib::conformance
