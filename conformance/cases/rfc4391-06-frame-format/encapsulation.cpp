// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

namespace {

/// Whether a payload is a datagram itself. What a Type begins with is neither an IP version nor InfiniBand's ar$hrd.
bool is_bare(Octets payload, EtherType content) {
    if (payload.size() < Arp::size) return false;
    if (content == EtherType::arp) return payload[0] == 0 && payload[1] == Arp::infiniband;
    return payload[0] >> 4 == (content == EtherType::ipv4 ? 4 : 6);
}

}  // namespace

const Case datagrams_are_encapsulated{
    .id = "IPOIB-4391-6-VAL-003",
    .title = "Every datagram stands behind an encapsulation header with the Type of its protocol",
    .checks = {&rfc4391::encap_header, &rfc4391::encap_type},
    .pass_if = "what the DUT sends as IPv4, IPv6 and ARP begins with a header of 4 octets that says so",
    .tags = {"encap"},
    .needs = Ability::see_all,
    .steps =
        [](Bench& bench) {
            const auto from_dut = [dut = bench.situation().dut.lid](const Packet& p) {
                return p.lrh && p.lrh[Lrh::slid] == dut && p.deth;
            };
            const auto judge = [&](const std::string& protocol, EtherType content, const Message& question) {
                const Expectation any{
                    "IPoIB packet with " + protocol,
                    [=](const Packet& p, const Situation&) { return from_dut(p) && p.content == content; },
                    SeenBy::anyone};
                const Expectation bare{
                    protocol + " without an encapsulation header",
                    [=](const Packet& p, const Situation&) { return from_dut(p) && is_bare(p.payload, content); },
                    SeenBy::anyone};
                bench.step(protocol + ": its encapsulation header", rfc4391::encap_header);
                bench.send(question);
                bench.precondition(bench.happens(any, within(2s)) || bench.happens(bare, within(0ms)),
                                   "the DUT sends " + protocol);
                bench.forbid_so_far(bare);
                bench.same_step("The Type in it", rfc4391::encap_type);
                bench.inspect(any.with(Encap::type, content), within(0ms));
            };
            judge("IPv4", EtherType::ipv4, echo_request());
            judge("ARP", EtherType::arp, unicast_arp_request());
            if (bench.situation().dut.ipv6.is_zero()) return bench.note("the DUT tells no IPv6 address");
            judge("IPv6", EtherType::ipv6, echo_request6());
        },
};

}  // namespace ipoib::conformance
