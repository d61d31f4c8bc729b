// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case newest_qpn_is_used{
    .id = "IPOIB-4391-9.1.1-VAL-003",
    .title = "IP goes to the QPN that the peer has told last",
    .checks = {&rfc4391::ip_to_advertised_qpn},
    .pass_if =
        "after the tester told another QPN, by asking for the DUT's address and by an announcement, the DUT's "
        "datagrams go to that QPN",
    .tags = {"arp", "nd", "ipv4", "ipv6"},
    .needs = Ability::any_frame | Ability::see_all,
    .dut_can = {"send"},
    .in_both_families = true,
    .lasts_at_most = 70s,
    .steps =
        [](Bench& bench) {
            const auto tester = bench.situation().tester;
            const auto to = bench.situation().tester_address();
            const auto port = bench.fresh_port();
            const auto qpn_told = [&]() -> std::optional<std::uint32_t> {
                const auto all = bench.dut->neighbours();
                const auto found = std::ranges::find(all, to, &NeighbourEntry::address);
                const auto told = found == all.end() ? View<LinkAddress>{} : View<LinkAddress>::at(found->link_address);
                return told ? std::optional{told[LinkAddress::qpn]} : std::nullopt;
            };
            bool tells = false;
            const auto goes_to = [&](std::uint32_t qpn) {
                bench.dut.sends(to, port);
                bench.inspect(udp_from_dut(to, port).sent_anywhere().with(Bth::dest_qp, qpn), within(5s));
                if (!tells) return;
                // Who reads the DUT's table reads what the DUT does.
                const auto told = qpn_told();
                bench.recommend(told == qpn, "QPN " + hex(qpn, 6) + " among the neighbours that the DUT tells",
                                told ? "QPN " + hex(*told, 6) : "no such neighbour");
            };
            bench.step("The DUT knows the tester");
            bench.control();
            bench.dut.sends(to, port);
            bench.precondition(udp_from_dut(to, port), within(5s));
            tells = bench.dut->can("neighbours") && qpn_told() == tester.qpn;
            const auto now_has = [&](std::uint32_t qpn) {
                // What was told a moment ago is not replaced at once: Linux has a second (locktime).
                bench.pass_time(2s);
                bench.tester.present(tester.link_flags, qpn);
            };
            const auto asks_with = [&](std::uint32_t qpn) {
                now_has(qpn);
                bench.send(address_request().with(Deth::src_qp, tester.qpn));
                bench.precondition(address_reply().sent_anywhere(), within(2s));
                goes_to(qpn);
            };
            const auto announces = [&](std::uint32_t qpn, const Message& announcement) {
                now_has(qpn);
                // Nobody confirms it: it is said more than once.
                for (int i = 0; i < 3; ++i) {
                    bench.send(announcement.with(Deth::src_qp, tester.qpn));
                    bench.pass_time(500ms);
                    // Who does not hear it is not charged with what it does not know. Who hears now hears the next one.
                    if (i == 0) (void)bench.dut.is_reached();
                }
                goes_to(qpn);
            };
            // Greater and smaller ones, and such as differ in the first octet only.
            const auto another = tester.qpn ^ 0x000200, third = tester.qpn ^ 0x000100, far = third ^ 0x800000;
            bench.step("The tester asks for the DUT's address, with another QPN in its own");
            asks_with(another);
            bench.step("It announces a third");
            announces(third, announcement());
            bench.step("It asks with one that differs in its first octet");
            asks_with(far);
            bench.step("It announces the third again, by an answer that all hear");
            const auto all = bench.situation().is_ipv6() ? bench.sa.join(Bench::all_nodes(Family::ipv6)).mlid()
                                                         : bench.link().broadcast_mlid;
            announces(third, announcement_to_all(all));
        },
};

}  // namespace ipoib::conformance
