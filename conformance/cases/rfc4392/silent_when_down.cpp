// SPDX-License-Identifier: GPL-2.0-or-later
// An interface that was taken down has left its link.
#include "conformance/cases/rfc4391-09-address-mapping/played_peer.hpp"

namespace ipoib::conformance {
namespace {

/// What the DUT's interface had queued may leave it still.
constexpr auto rest = 5s;

/// Anything of IPoIB from the queue pair that the DUT had.
Expectation anything_from(std::uint32_t qpn) {
    return {"IPoIB packet",
            [qpn](const Packet& p, const Situation& s) {
                return p.is_ipoib() && p.lrh && p.lrh[Lrh::slid] == s.dut.lid && p.deth && p.deth[Deth::src_qp] == qpn;
            },
            SeenBy::anyone};
}

}  // namespace

const Case down_interface_is_silent{
    .id = "IPOIB-4392-4.2.5-VAL-002",
    .title = "An interface that is taken down answers nothing any more",
    .checks = {&rfc4392::stays_in_broadcast_group},
    .pass_if =
        "when its interface was taken down, the DUT sends nothing more on the link from its queue pair, also when it "
        "is asked for its address or for an echo; who uses the link is a member of its broadcast group",
    .tags = {"sa", "arp", "nd", "ipv4", "ipv6"},
    .needs = Ability::any_frame | Ability::see_all,
    .dut_can = {"up", "down"},
    .in_both_families = true,
    .lasts_at_most = 90s,
    .steps =
        [](Bench& bench) {
            bench.step("The DUT is on the link");
            bench.control();
            const auto anything = anything_from(bench.situation().dut.qpn);
            const auto arp = arp_request(), question = address_request(), echo = echo_request();
            bench.step("It is taken down");
            bench.dut->down();
            bench.pass_time(rest);
            bench.step("It is asked for its address, and for an echo");
            for (const auto& message : {arp, question, echo}) {
                bench.send(message);
                bench.pass_time(500ms);
            }
            bench.pass_time(3s);
            bench.forbid_so_far(anything);
            bench.step("It comes up again");
            bench.dut.comes_up();
            bench.control();
        },
};

const Case down_interface_sends_nothing_late{
    .id = "IPOIB-4392-4.2.5-VAL-003",
    .title = "What has waited for a path is not sent by an interface that was taken down meanwhile",
    .checks = {&rfc4392::stays_in_broadcast_group},
    .pass_if =
        "when the DUT has asked for the path to a neighbour, is taken down, and is then answered, it sends nothing "
        "more on the link from its queue pair",
    .tags = {"sa", "path", "ipv4", "ipv6"},
    .impact = Impact::fabric,
    .needs = Ability::any_frame | Ability::see_all | Ability::fabric_control,
    .dut_can = {"up", "down", "send"},
    .in_both_families = true,
    .lasts_at_most = 90s,
    .steps =
        [](Bench& bench) {
            bench.step("The DUT asks for the path to a neighbour");
            const auto peer = new_peer(bench, bench.fresh_neighbour(), bench.situation().tester.qpn);
            bench.control();
            const auto port = bench.fresh_port();
            const auto datagram = udp_from_dut(peer.address, port).sent_anywhere();
            const bool has_asked = resolves_and_sends(bench, peer, port, SetSa{.delay = 1500ms});
            bench.precondition(has_asked, "it asks for the peer's address");
            bench.precondition(path_question_about(peer.gid), within(1s));
            bench.step("It is taken down, and the subnet administrator answers");
            bench.dut->down();
            bench.pass_time(4s);
            bench.forbid_so_far(datagram);
            bench.step("It comes up again");
            bench.fabric.change(SetSa{.resets = true});
            bench.dut.comes_up();
            bench.control();
        },
};

}  // namespace ipoib::conformance
