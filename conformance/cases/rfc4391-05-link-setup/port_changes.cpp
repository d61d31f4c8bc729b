// SPDX-License-Identifier: GPL-2.0-or-later
// A port whose LID or table of P_Keys is another one: the link goes on. IBTA Vol 1, 10.9.1 and 14.2.5.6.
#include "conformance/cases/link_again.hpp"

namespace ipoib::conformance {
namespace {

constexpr auto everyone = IpAddress::v4(0xffffffff);

/// A datagram to everyone whose P_Key is not the one in its MGID.
Expectation datagram_of_two_partitions(std::uint16_t port) {
    return udp_from_dut(everyone, port)
        .sent_anywhere()
        .such_that("with another P_Key than its MGID", [](const Packet& p, const Situation&) {
            return p.grh && p.bth && !is_same_partition(mgid_of(p.grh[Grh::dgid])[Mgid::p_key], p.bth[Bth::p_key]);
        });
}

/// The administrator gives a partition a broadcast group, with a Q_Key of its own. The tester is in it, too: an SA
/// tells nobody else who its members are.
void give_broadcast_group(Bench& bench, std::uint16_t p_key) {
    bench.fabric.change(SetPKey{{.guid = bench.situation().tester.gid.interface_id()}, p_key});
    constexpr std::uint32_t another = 0x00010000;
    bench.fabric.change(
        SetGroup{.mgid = broadcast_gid(p_key, bench.link().scope), .q_key = bench.link().q_key ^ another});
}

}  // namespace

const Case first_p_key_becomes_another{
    .id = "IPOIB-4391-5-VAL-011",
    .title = "The DUT is on one link when another P_Key takes the place of the link's in the port's table",
    .checks = {&rfc4391::broadcast_full_member_join},
    .pass_if =
        "after another P_Key has taken the place of the link's, which stands elsewhere then, the DUT is FullMember of "
        "the broadcast group of either, hears it if it is the one of before, and sends nothing to a group of one "
        "partition with the P_Key of the other; when the table is as before, so is the DUT",
    .tags = {"sa", "broadcast", "pkey", "arp"},
    .impact = Impact::link,
    .needs = Ability::trusted_sa | Ability::fabric_control | Ability::see_all,
    .dut_can = {"send"},
    .lasts_at_most = 120s,
    .steps =
        [](Bench& bench) {
            constexpr std::uint16_t other = 0x8347;
            const auto port = port_of_dut(bench);
            const auto p_key = static_cast<std::uint16_t>(bench.link().p_key | full_membership);
            begin_on_the_link(bench);
            bench.step("Another P_Key takes the place of the link's");
            give_broadcast_group(bench, other);
            bench.fabric.change(SetPKey{port, other, true, 0});
            bench.pass_time(3s);
            // Who was given the P_Key stays; who was given its place moves. Neither is told by the text to do so.
            const auto moves = [&](Within time) {
                return bench.sa.has_dut_as_full_member(broadcast_gid(other, bench.link().scope), time);
            };
            const bool has_moved = moves(within(3s));
            const bool stays = !has_moved && answers_broadcasts(bench);
            bench.require(stays || has_moved || moves(within(30s)), "a DUT that is on the link of either P_Key",
                          "it neither answers in the one nor is FullMember in the other");
            for (int i = 0; i < 3; ++i) {
                const auto udp_port = bench.fresh_port();
                bench.dut.tries_to_send(everyone, udp_port);
                bench.pass_time(500ms);
                const bool is_mixed = bench.count(datagram_of_two_partitions(udp_port)) != 0;
                bench.require(!is_mixed, "a broadcast with the P_Key of its MGID",
                              "one with the P_Key of another link");
            }
            bench.step("The table is as it was");
            bench.fabric.change(SetPKey{port, p_key, true, 0});
            bench.fabric.change(SetPKey{port, other, false});
            bench.pass_time(3s);
            require_link(bench);
        },
};

const Case p_key_of_interface_moves{
    .id = "IPOIB-4391-9.1.2-VAL-008",
    .title = "An interface goes on when its P_Key moves in the port's table",
    .checks = {&rfc4391::pkey_configured},
    .pass_if =
        "after the P_Key of a further interface has moved in the port's table, and another has its place, what the "
        "interface broadcasts has its P_Key, and it is FullMember of its broadcast group",
    .tags = {"sa", "pkey", "broadcast"},
    .impact = Impact::link,
    .needs = Ability::trusted_sa | Ability::see_all | Ability::fabric_control,
    .dut_can = {"create_child", "delete_child", "add_address", "send"},
    .lasts_at_most = 120s,
    .steps =
        [](Bench& bench) {
            constexpr std::uint16_t own = 0x8345, other = 0x8567;
            const auto port = port_of_dut(bench);
            const auto broadcast = broadcast_gid(own, bench.link().scope);
            bench.step("An interface has the second P_Key of the table");
            give_broadcast_group(bench, own);
            for (const auto p_key : {own, other}) bench.fabric.change(SetPKey{port, p_key});
            const auto child = bench.dut.begins_child(own);
            bench.precondition(bench.sa.has_dut_as_full_member(broadcast, within(20s)),
                               "the interface is FullMember of its broadcast group");
            try {
                child->add_address({IpAddress::v4(0xc6336401), 24});  // TEST-NET-2 (RFC 5737)
            } catch (const ControlFailed& why) {
                bench.not_applicable(std::string("the interface takes no address: ") + why.what());
            }
            const auto broadcasts = [&](std::uint16_t udp_port) {
                try {
                    child->send(everyone, udp_port, {}, 1);
                } catch (const ControlFailed&) {
                    // What it does not send does not come.
                }
                return udp_from_dut(everyone, udp_port).sent_anywhere();
            };
            const auto first = broadcasts(bench.fresh_port());
            bench.precondition(first.with(Bth::p_key, own), within(5s));
            bench.step("The two change places");
            bench.fabric.change(SetPKey{port, own, true, 2});
            bench.pass_time(5s);
            bench.require(bench.sa.has_dut_as_full_member(broadcast, within(20s)), "FullMember of " + text(broadcast),
                          "not at the SA");
            Expectation next = broadcasts(bench.fresh_port());
            for (int i = 0; i < 5 && !bench.happens(next, within(2s)); ++i) next = broadcasts(bench.fresh_port());
            bench.require(next.with(Bth::p_key, own), within(2s));
        },
};

const Case further_interface_renews{
    .id = "IPOIB-4391-5-VAL-014",
    .title =
        "A further interface joins its broadcast group again when the subnet administrator has lost its memberships",
    .checks = {&rfc4391::broadcast_full_member_join},
    .pass_if =
        "after the subnet manager has started without its database a further interface of the DUT, with a P_Key of its "
        "own, is FullMember of its broadcast group again",
    .tags = {"sa", "pkey", "broadcast", "reregister"},
    .impact = Impact::fabric,
    .needs = Ability::trusted_sa | Ability::fabric_control,
    .dut_can = {"create_child", "delete_child"},
    .lasts_at_most = 150s,
    .steps =
        [](Bench& bench) {
            constexpr std::uint16_t own = 0x8345;
            const auto broadcast = broadcast_gid(own, bench.link().scope);
            bench.step("A further interface is on the link of its P_Key");
            give_broadcast_group(bench, own);
            bench.fabric.change(SetPKey{port_of_dut(bench), own});
            const auto child = bench.dut.begins_child(own);
            bench.precondition(bench.sa.has_dut_as_full_member(broadcast, within(20s)),
                               "the interface is FullMember of its broadcast group");
            bench.step("The subnet manager starts without its database");
            bench.fabric.change(SetManager{});
            give_broadcast_group(bench, own);
            bench.tester.enter_link_again();
            bench.require(bench.sa.has_dut_as_full_member(broadcast, within(30s)), "FullMember of " + text(broadcast),
                          "not at the SA");
        },
};

const Case lid_changes{
    .id = "IPOIB-4391-5-VAL-012",
    .title = "The link goes on when the DUT's port has got another LID",
    .checks = {&rfc4391::broadcast_full_member_join, &rfc4391::receiver_full_member_join, &rfc4391::ud_transport},
    .pass_if =
        "when the subnet manager has given its port another LID, the DUT is FullMember of the broadcast group and of a "
        "program's group, is reached by unicast and by broadcasts, answers from that LID, and what it sends to the "
        "group itself does not come to its program from the wire",
    .tags = {"sa", "broadcast", "reregister", "arp", "ipv4", "ipv6"},
    .impact = Impact::fabric,
    .needs = Ability::trusted_sa | Ability::fabric_control | Ability::see_all,
    .dut_can = {"join"},
    .in_both_families = true,
    .lasts_at_most = 150s,
    .steps =
        [](Bench& bench) {
            begin_on_the_link(bench);
            const auto group = bench.fresh_group();
            const auto udp_port = bench.fresh_port();
            bench.step("A program joins a group");
            bench.dut->join(group);
            bench.precondition(bench.sa.has_dut_as_full_member(group, within(5s)), "the DUT is FullMember");
            const bool hears = bench.dut->can("listen") && bench.dut->can("received") && bench.dut->can("send");
            // One that a stack gives its own programs without the wire is right (RFC 1112, 6.1).
            const auto heard_of_own = [&] {
                bench.dut.sends(group, udp_port);
                bench.pass_time(2s);
                return bench.dut.deliveries(udp_port);
            };
            std::size_t before = 1;
            if (hears) {
                bench.dut->listen(group, udp_port);
                bench.step("The DUT sends to the group itself", rfc4391::ud_transport);
                (void)heard_of_own();
                before = heard_of_own();
                bench.recommend(before <= 1, "that its program gets its own datagram once", std::to_string(before));
            }
            bench.control();
            bench.step("Its port gets another LID", rfc4391::broadcast_full_member_join);
            const auto lid_before = bench.situation().dut.lid;
            bench.fabric.change(SetLid{port_of_dut(bench)});
            bench.tester.enter_link_again();
            if (!require_found(bench) || !require_link(bench)) return;
            bench.same_step("The program's group", rfc4391::receiver_full_member_join);
            bench.require(bench.sa.has_dut_as_full_member(group, within(30s)), "FullMember of " + text(group),
                          "not at the SA");
            bench.step("The tester sends to the new LID", rfc4391::ud_transport);
            bench.require_traffic(within(20s));
            bench.step("The tester asks for its address", rfc4391::ud_transport);
            (void)answers_broadcasts(bench);
            const auto with_old_lid = arp_reply().sent_anywhere().such_that(
                "from the LID of before", [lid_before](const Packet& p, const Situation& s) {
                    return p.lrh && p.lrh[Lrh::slid] == lid_before && s.dut.lid != lid_before;
                });
            bench.require(bench.count(with_old_lid) == 0, "packets with a LID of its port", "some with that of before");
            if (!hears) return;
            (void)heard_of_own();
            const auto now = heard_of_own();
            bench.recommend(now <= before, "that its program gets its own datagram no more often than before",
                            std::to_string(now) + " times");
        },
};

}  // namespace ipoib::conformance
