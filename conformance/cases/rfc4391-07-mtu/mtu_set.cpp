// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

namespace {

constexpr std::size_t usual = 2044;

std::size_t headers(const Situation& situation) { return (situation.is_ipv6() ? Ipv6::size : Ipv4::size) + Icmp::size; }

/// An echo request of the DUT that is an IP packet of so many octets.
Expectation whole_echo_request(std::size_t octets) {
    return {"echo request in one packet of " + std::to_string(octets) + " octets",
            [octets](const Packet& p, const Situation&) {
                const bool is_request = (p.icmp && p.icmp[Icmp::type] == Icmp::echo_request) ||
                                        (p.icmpv6 && p.icmpv6[Icmpv6::type] == Icmpv6Type::echo_request);
                return is_request && !p.is_fragment && p.payload_length == octets + Encap::size;
            }};
}

Expectation longer_than(std::size_t octets) {
    return udp_piece().sent_anywhere().such_that(
        "of more than " + std::to_string(octets) + " octets",
        [octets](const Packet& p, const Situation&) { return p.payload_length > octets + Encap::size; });
}

}  // namespace

const Case mtu_can_be_set{
    .id = "IPOIB-4391-7-VAL-003",
    .title = "An interface can be set to 2044 octets, from less, and to no more than the link carries",
    .checks = {&rfc4391::frame_within_link_mtu, &rfc4391::other_mtus, &rfc4391::ip_mtu_2044},
    .pass_if =
        "no packet is longer than the link's MTU, whatever the interface is told; set to 2044 it sends and takes echo "
        "requests of 2043 and 2044 octets whole",
    .tags = {"mtu", "ipv4", "ipv6"},
    .needs = Ability::see_all,
    .dut_can = {"interface", "set_mtu", "ping", "send"},
    .in_both_families = true,
    .lasts_at_most = 60s,
    .steps =
        [](Bench& bench) {
            const auto of_link = bench.situation().ip_mtu();
            const auto to = bench.situation().tester_address();
            const auto around = headers(bench.situation());
            if (bench.dut->interface().mode == "connected")
                bench.not_applicable("in connected mode the interface has an MTU of its own (RFC 4755, 5)");
            if (of_link < usual) bench.not_applicable("this link's MTU is less than 2044");
            // One that is refused is not sent either.
            const auto sends_longer_than = [&](std::size_t mtu) {
                if (bench.dut.tries_to_send(to, bench.fresh_port(), mtu + 1 - around))
                    bench.precondition(udp_piece().sent_anywhere(), within(3s));
            };

            bench.step("The interface is told to be wider than the link", rfc4391::frame_within_link_mtu);
            bench.control();
            if (!bench.dut.takes_mtu(of_link + 4)) bench.note("the DUT refuses an MTU beyond that of the link");
            sends_longer_than(of_link);
            bench.forbid_so_far(longer_than(of_link));

            constexpr std::size_t smaller = 1500;
            bench.step("It is told to be narrower", rfc4391::other_mtus);
            if (bench.dut.takes_mtu(smaller)) {
                sends_longer_than(smaller);
                bench.note(bench.count(longer_than(smaller)) == 0 ? "an interface of 1500 octets sends no more"
                                                                  : "an interface of 1500 octets sends more");
            }
            bench.require(true, "either");

            bench.step("It is told to have 2044 octets again", rfc4391::ip_mtu_2044);
            bench.require(bench.dut.takes_mtu(usual), "that it takes the MTU", "a refusal");
            bench.precondition(bench.dut->ping(to, 64), "an ordinary ping of the DUT is answered");
            for (const auto octets : {usual - 1, usual}) {
                const bool is_answered = bench.dut->ping(to, octets - around);
                bench.require(bench.count(whole_echo_request(octets)) > 0,
                              "an echo request in one packet of " + std::to_string(octets) + " octets", "none");
                bench.require(is_answered, "that its answer of " + std::to_string(octets) + " octets is taken",
                              "the DUT says that there was none");
                bench.send(echo_request(octets - around));
                bench.require(bench.happens(echo_reply(), within(2s)),
                              "an answer to an echo request of " + std::to_string(octets) + " octets", "none");
            }
        },
};

const Case lowered_mtu_stays{
    .id = "IPOIB-4391-7-VAL-005",
    .title = "An MTU that the administrator has lowered stays when the broadcast group is joined again",
    .checks = {&rfc4391::ip_mtu_2044},
    .pass_if =
        "an interface that was set to 1500 octets, and sent nothing longer, sends nothing longer after the subnet "
        "manager has asked every port to reregister either, and can be set to 2044 again",
    .tags = {"mtu", "reregister", "ipv4", "ipv6"},
    .impact = Impact::fabric,
    .needs = Ability::see_all | Ability::trusted_sa | Ability::fabric_control,
    .dut_can = {"set_mtu", "send"},
    .in_both_families = true,
    .lasts_at_most = 100s,
    .steps =
        [](Bench& bench) {
            constexpr std::size_t lowered = 1500;
            const auto to = bench.situation().tester_address();
            const auto around = headers(bench.situation());
            if (bench.dut->can("interface") && bench.dut->interface().mode == "connected")
                bench.not_applicable("in connected mode the interface has an MTU of its own (RFC 4755, 5)");
            if (bench.situation().ip_mtu() < usual) bench.not_applicable("this link's MTU is less than 2044");
            // One that is refused is not sent either.
            const auto sends_of = [&](std::size_t octets) {
                bool is_taken = false;
                for (int i = 0; i < 5 && !bench.happens(udp_piece().sent_anywhere(), within(2s)); ++i)
                    is_taken = bench.dut.tries_to_send(to, bench.fresh_port(), octets - around) || is_taken;
                if (is_taken) bench.precondition(udp_piece().sent_anywhere(), within(0ms));
            };
            bench.step("The interface is set to 1500 octets");
            bench.control();
            if (!bench.dut.takes_mtu(lowered)) bench.not_applicable("the DUT takes no smaller MTU");
            sends_of(usual);
            if (bench.count(longer_than(lowered)) != 0) bench.not_applicable("an interface of 1500 octets sends more");
            bench.step("Every port is asked to reregister");
            bench.fabric.change(SetManager{});
            bench.tester.enter_link_again();
            bench.precondition(bench.sa.has_dut_as_full_member(bench.link().broadcast_gid(), within(30s)),
                               "the DUT has joined the broadcast group again");
            bench.pass_time(2s);
            bench.step("It sends a datagram of 2044 octets");
            sends_of(usual);
            bench.recommend(bench.count(longer_than(lowered)) == 0, "no packet of more than 1500 octets", "one");
            bench.step("It is set to 2044 octets again");
            bench.require(bench.dut.takes_mtu(usual), "that it takes the MTU", "a refusal");
        },
};

}  // namespace ipoib::conformance
