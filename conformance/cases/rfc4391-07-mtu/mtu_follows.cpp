// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case mtu_follows_the_link{
    .id = "IPOIB-4391-7-VAL-004",
    .title = "No packet is longer than the MTU of a broadcast group that has come back with a smaller one",
    .checks = {&rfc4391::frame_within_link_mtu, &rfc4391::ip_mtu_2044},
    .pass_if =
        "when the broadcast group has been made anew with a smaller MTU, and the subnet manager has asked every port "
        "to reregister, the DUT's datagrams of the old size come in pieces that fit, or are refused; with the old MTU "
        "again, those of 2044 octets come whole",
    .tags = {"mtu", "broadcast", "reregister", "ipv4", "ipv6"},
    .impact = Impact::fabric,
    .needs = Ability::see_all | Ability::trusted_sa | Ability::fabric_control,
    .dut_can = {"send"},
    .in_both_families = true,
    .lasts_at_most = 180s,
    .steps =
        [](Bench& bench) {
            const auto broadcast = bench.link().broadcast_gid();
            const auto before = bench.situation().ip_mtu();
            const auto to = bench.situation().tester_address();
            const auto payload = before - bench.situation().ip_header() - Udp::size;
            const auto told = [&] { return bench.dut->can("interface") ? bench.dut->interface().mtu : std::size_t{0}; };
            // IPv6 needs 1280 octets of a link (RFC 8200, 5): 2048 is the least code that has them.
            constexpr std::uint8_t least = 4;
            if (bench.link().mtu <= least && bench.situation().is_ipv6())
                bench.not_applicable("IPv6 does without a link of less than 1280 octets");
            if (bench.link().mtu <= 1) bench.not_applicable("this link's MTU is the smallest");
            if (bench.dut->can("interface") && bench.dut->interface().mode == "connected")
                bench.not_applicable("in connected mode the interface has an MTU of its own (RFC 4755, 5)");
            constexpr std::size_t everybodys = 2044;
            const auto code = bench.link().mtu;
            bench.step("The DUT sends packets of the link's size", rfc4391::frame_within_link_mtu);
            bench.control();
            bench.dut.sends(to, bench.fresh_port(), payload);
            bench.precondition(udp_piece().sent_anywhere(), within(3s));
            const bool tells = told() == before;
            const auto make_anew = [&](std::uint8_t mtu) {
                bench.fabric.change(SetGroup{broadcast, false});
                bench.fabric.change(SetGroup{.mgid = broadcast, .mtu = mtu});
                bench.fabric.change(SetManager{.keeps_state = true});
                bench.tester.enter_link_again();
                bench.precondition(bench.sa.has_dut_as_full_member(broadcast, within(30s)), "the DUT has joined it");
                bench.pass_time(2s);
            };
            bench.step("The broadcast group is made anew, with a smaller MTU");
            make_anew(static_cast<std::uint8_t>(code - 1));
            bench.step("It sends as much as before", rfc4391::frame_within_link_mtu);
            bench.expect_rest();
            const auto now = bench.situation().ip_mtu();
            bench.require_traffic(within(20s));
            const auto piece = udp_piece().sent_anywhere();
            bool is_taken = false;
            for (int i = 0; i < 5 && !bench.happens(piece, within(2s)); ++i) {
                bench.send(address_request());
                is_taken = bench.dut.tries_to_send(to, bench.fresh_port(), payload) || is_taken;
            }
            // One that is refused is not sent either.
            if (is_taken) bench.require(piece, within(3s));
            if (tells) bench.recommend(told() <= now, "an MTU of " + std::to_string(now), std::to_string(told()));
            bench.forbid_so_far(udp_piece().sent_anywhere().such_that(
                "of more than " + std::to_string(now) + " octets",
                [now](const Packet& p, const Situation&) { return p.payload_length > now + Encap::size; }));
            if (before < everybodys) return;
            bench.step("The broadcast group is made anew, with the MTU that it had");
            make_anew(code);
            bench.step("It sends 2044 octets", rfc4391::ip_mtu_2044);
            bench.expect_rest();
            bench.require_traffic(within(20s));
            const auto port = bench.fresh_port();
            const auto datagram = udp_from_dut(to, port).sent_anywhere();
            for (int i = 0; i < 5 && !bench.happens(datagram, within(2s)); ++i) {
                bench.send(address_request());
                bench.dut.sends(to, port, everybodys - bench.situation().ip_header() - Udp::size);
            }
            bench.require(datagram.with_ip_length(bench.situation().family, everybodys), within(3s));
        },
};

}  // namespace ipoib::conformance
