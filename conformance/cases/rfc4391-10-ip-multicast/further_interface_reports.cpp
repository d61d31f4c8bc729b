// SPDX-License-Identifier: GPL-2.0-or-later
// Reports of the SA come to a port, and are for all of its interfaces.
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case further_interface_hears_reports{
    .id = "IPOIB-4391-10-VAL-033",
    .title = "A further interface of the port sends to a group once that is created",
    .checks = {&rfc4391::fallback_ends_with_group},
    .pass_if =
        "what a further interface, in a partition of its own, has sent to the all-router group goes to its own group "
        "after the tester has joined that",
    .tags = {"sa", "egress", "trap", "pkey"},
    .impact = Impact::fabric,
    .needs = Ability::trusted_sa | Ability::see_all | Ability::fabric_control,
    .dut_can = {"create_child", "delete_child", "add_address", "send"},
    .lasts_at_most = 90s,
    .steps =
        [](Bench& bench) {
            constexpr std::uint16_t own = 0x8345;
            const auto scope = bench.link().scope;
            const auto mgid = [&](const IpAddress& group) { return mgid_for_ipv4(group.v4(), own, scope); };
            const auto broadcast = broadcast_gid(own, scope);
            bench.step("A further interface is on the link of its P_Key, with routers");
            bench.fabric.change(SetPKey{{.guid = bench.situation().tester.gid.interface_id()}, own});
            for (const auto& group : {broadcast, mgid(bench.all_routers())}) bench.fabric.change(SetGroup{group});
            bench.fabric.change(SetPKey{{.guid = bench.situation().dut.gid.interface_id()}, own});
            const auto child = bench.dut.begins_child(own);
            bench.precondition(bench.sa.has_dut_as_full_member(broadcast, within(20s)),
                               "the interface is FullMember of its broadcast group");
            try {
                child->add_address({IpAddress::v4(0xc6336401), 24});  // TEST-NET-2 (RFC 5737)
            } catch (const ControlFailed& why) {
                bench.not_applicable(std::string("the interface takes no address: ") + why.what());
            }
            const auto sends = [&](const IpAddress& group) {
                const auto port = bench.fresh_port();
                try {
                    child->send(group, port, {}, 32);
                } catch (const ControlFailed&) {
                    // What it does not send does not come.
                }
                return udp_from_dut(group, port).sent_anywhere().with(Bth::p_key, own);
            };
            // That all 28 bits are mapped is another question: the highest five are none here.
            constexpr std::uint32_t of_ethernet = 0xf07f'ffff;
            const auto group = IpAddress::v4(bench.fresh_group4().v4() & of_ethernet);
            bench.step("A group is missing: its packets go to the routers");
            bench.precondition(sends(group), within(5s));
            bench.step("The group is created");
            bench.fabric.change(SetGroup{mgid(group)});
            bench.pass_time(2s);
            const auto goes_there = [wanted = mgid(group)](const Packet& p, const Situation&) {
                return p.grh && p.grh[Grh::dgid] == wanted;
            };
            Expectation next = sends(group);
            for (int i = 0; i < 4 && !bench.happens(next.such_that("to the group itself", goes_there), within(1s)); ++i)
                next = sends(group);
            bench.require(next.with(Grh::dgid, mgid(group)), within(2s));
        },
};

}  // namespace ipoib::conformance
