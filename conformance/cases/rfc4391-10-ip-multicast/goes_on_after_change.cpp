// SPDX-License-Identifier: GPL-2.0-or-later
// What programs joined, and what they send to, when the subnet around it has changed.
#include "conformance/cases/rfc4391-10-ip-multicast/program_groups.hpp"

namespace ipoib::conformance {
namespace {

void require_member(Bench& bench, const IpAddress& group, Within time) {
    bench.require(bench.sa.has_dut_as_full_member(group, time), "FullMember of " + text(group), "not at the SA");
}

/// The SA has lost the DUT's membership, and refuses it when the DUT asks again.
void is_lost_and_refused(Bench& bench, const Gid& mgid) {
    bench.step("The subnet manager starts without its database, and the SA refuses the group");
    bench.fabric.change(refused_joins(mgid));
    bench.fabric.change(SetManager{});
    bench.tester.enter_link_again();
    bench.precondition(bench.happens(join_of(mgid), within(20s)), "the DUT asks to join the group");
}

/// Waits until the DUT has just asked for a group that is refused, after a pause so long that the next one will not be
/// short either. False: it makes no such pauses.
bool has_just_asked_after_a_pause(Bench& bench, const Gid& mgid) {
    constexpr int shortest = 6, patience = 45;
    auto asked = bench.count(join_of(mgid));
    for (int second = 0, quiet = 0; second < patience; ++second, ++quiet) {
        bench.pass_time(1s);
        const auto now = bench.count(join_of(mgid));
        if (now == asked) continue;
        if (quiet >= shortest) return true;
        asked = now;
        quiet = 0;
    }
    return false;
}

/// The SA does not let the DUT send to a group, and then it does.
void sends_once_it_can(Bench& bench, const IpAddress& group, const Gid& mgid) {
    bench.dut.tries_to_send(group, bench.fresh_port());
    bench.pass_time(4s);
    bench.precondition(bench.count(request_about(mgid)) != 0, "the DUT asks about the group");
    bench.step("It lets the DUT");
    bench.fabric.change(SetSa{.resets = true});
    bench.control();
    bool is_sent = false;
    for (int i = 0; i < 15 && !is_sent; ++i) {
        const auto port = bench.fresh_port();
        bench.dut.tries_to_send(group, port);
        is_sent = bench.happens(udp_from_dut(group, port).sent_anywhere(), within(3s));
    }
    bench.control();
    bench.require(is_sent, "a datagram to the group", "none");
}

}  // namespace

const Case groups_return_with_port{
    .id = "IPOIB-4391-10-VAL-018",
    .title = "A program's group is joined again when the port's link was down",
    .checks = {&rfc4391::receiver_full_member_join, &rfc4392::receiver_joins},
    .pass_if = "after its port's link was down and is up again the DUT is FullMember of a program's group, and of IP's",
    .tags = {"sa", "flap", "ipv4", "ipv6"},
    .impact = Impact::link,
    .needs = Ability::trusted_sa | Ability::fabric_control,
    .dut_can = {"join"},
    .in_both_families = true,
    .lasts_at_most = 100s,
    .steps =
        [](Bench& bench) {
            auto groups = joined_groups(bench, several_groups);
            const auto own = Bench::all_nodes(bench.situation().family);
            if ((bench.sa.join_state_of_dut(bench.mgid_of(own)) & join_state::full_member) != 0) groups.push_back(own);
            bench.step("Its port's link goes down, and comes up again");
            bench.fabric.change(SetPort{port_of_dut(bench), false});
            bench.pass_time(1s);
            bench.fabric.change(SetPort{port_of_dut(bench), true});
            for (const auto& one : groups) require_member(bench, one, within(30s));
        },
};

const Case sender_finds_new_mlid{
    .id = "IPOIB-4391-10-VAL-019",
    .title = "A sender sends to the MLID that its group has now, when the subnet administrator has lost its groups",
    .checks = {&rfc4391::mlid_as_dlid},
    .pass_if =
        "after the subnet manager has started without its database, and the group has another MLID, the DUT's "
        "datagrams for it go to that one",
    .tags = {"sa", "egress", "reregister", "ipv4", "ipv6"},
    .impact = Impact::fabric,
    .needs = Ability::see_all | Ability::fabric_control,
    .dut_can = {"send"},
    .in_both_families = true,
    .lasts_at_most = 100s,
    .steps =
        [](Bench& bench) {
            const auto group = bench.fresh_group();
            const auto port = bench.fresh_port();
            bench.step("The DUT sends to a group of the tester");
            const auto before = bench.sa.join(group).mlid();
            bench.dut.is_seen_to_send(group, port);
            bench.step("The subnet manager starts without its database; the group is made anew");
            bench.fabric.change(SetManager{});
            bench.tester.enter_link_again();
            // What is created first gets the MLIDs of before.
            for (int i = 0; i < 4; ++i) bench.sa.join(bench.fresh_group());
            const auto now = bench.sa.join(group);
            if (now.mlid() == before) bench.not_applicable("the group has the MLID that it had");
            bench.pass_time(5s);
            bench.step("The DUT sends to it");
            const auto datagram = udp_from_dut(group, port).sent_anywhere();
            for (int i = 0; i < 8 && !bench.happens(datagram, within(0ms)); ++i) {
                bench.dut.sends(group, port);
                (void)bench.happens(datagram, within(3s));
            }
            bench.require(datagram.with(Lrh::dlid, now.mlid()), within(0ms));
        },
};

const Case groups_return_with_p_key{
    .id = "IPOIB-4391-10-VAL-020",
    .title = "A program's group is heard again when the P_Key was gone from the port's table",
    .checks = {&rfc4391::receiver_full_member_join, &rfc4392::receiver_joins},
    .pass_if =
        "after the P_Key was removed from the port's table and is there again what is sent to a program's group comes "
        "to it",
    .tags = {"sa", "pkey", "ipv4", "ipv6"},
    .impact = Impact::link,
    .needs = Ability::trusted_sa | Ability::fabric_control,
    .dut_can = {"join", "listen", "received"},
    .in_both_families = true,
    .lasts_at_most = 100s,
    .steps =
        [](Bench& bench) {
            const auto group = joined_group(bench);
            const auto port = bench.fresh_port();
            const auto mlid = bench.sa.join(group).mlid();
            bench.dut->listen(group, port);
            const auto is_heard = [&](Within each) {
                return bench.dut.receives(udp_to_group(group, mlid, port), port, each);
            };
            bench.precondition(is_heard(within(2s)), "what is sent to the group comes to the program");
            bench.step("The P_Key goes, and comes again");
            const auto p_key = static_cast<std::uint16_t>(bench.link().p_key | full_membership);
            bench.fabric.change(SetPKey{port_of_dut(bench), p_key, false});
            bench.pass_time(2s);
            bench.fabric.change(SetPKey{port_of_dut(bench), p_key});
            bench.pass_time(5s);
            const bool is_member = bench.sa.has_dut_as_full_member(group, within(20s));
            bench.require(is_member && is_heard(within(5s)), "what is sent to " + text(group) + " at the program",
                          is_member ? "FullMember at the SA, and nothing comes" : "not at the SA");
        },
};

const Case refused_rejoin_is_tried_again{
    .id = "IPOIB-4391-10-VAL-021",
    .title = "A program's group whose join is refused after a reregistration is joined once that is granted",
    .checks = {&rfc4391::receiver_full_member_join, &rfc4392::receiver_joins},
    .pass_if =
        "when the subnet administrator has lost its memberships, refuses a program's group at first, and then grants "
        "it, the DUT is FullMember of it",
    .tags = {"sa", "reregister", "ipv4", "ipv6"},
    .impact = Impact::fabric,
    .needs = Ability::trusted_sa | Ability::fabric_control | Ability::see_all,
    .dut_can = {"join"},
    .in_both_families = true,
    .lasts_at_most = 150s,
    .steps =
        [](Bench& bench) {
            const auto group = joined_group(bench);
            const auto mgid = bench.mgid_of(group);
            is_lost_and_refused(bench, mgid);
            constexpr std::size_t seconds = 5, many = 10;
            const auto before = bench.count(join_of(mgid));
            bench.pass_time(5s);
            const auto joins = bench.count(join_of(mgid)) - before;
            bench.recommend(joins <= seconds * many, "at most " + std::to_string(many) + " refused joins a second",
                            std::to_string(joins) + " in " + std::to_string(seconds) + " s");
            bench.step("The SA grants it");
            bench.fabric.change(SetSa{.resets = true});
            require_member(bench, group, within(60s));
        },
};

const Case refused_group_holds_up_nothing{
    .id = "IPOIB-4391-10-VAL-028",
    .title = "While the join of one group is refused, other groups are joined and sent to",
    .checks = {&rfc4391::receiver_full_member_join, &rfc4392::receiver_joins, &rfc4391::sender_checks_group},
    .pass_if =
        "while the subnet administrator refuses a program's group after a reregistration, the DUT is FullMember of "
        "another one that a program joins then, and a datagram to a third one is sent; WARN where it asks for the "
        "other group only together with the refused one",
    .tags = {"sa", "egress", "reregister", "ipv4", "ipv6"},
    .impact = Impact::fabric,
    .needs = Ability::trusted_sa | Ability::fabric_control | Ability::see_all,
    .dut_can = {"join"},
    .in_both_families = true,
    .lasts_at_most = 200s,
    .steps =
        [](Bench& bench) {
            const auto refused = bench.mgid_of(joined_group(bench));
            is_lost_and_refused(bench, refused);
            const bool is_pausing = has_just_asked_after_a_pause(bench, refused);
            bench.step("A program joins another group", rfc4391::receiver_full_member_join);
            const auto other = bench.fresh_group();
            bench.dut->join(other);
            require_member(bench, other, within(20s));
            if (is_pausing)
                bench.recommend(bench.comes_before(join_of(bench.mgid_of(other)), join_of(refused)),
                                "its join, before the refused group is asked for again", "only together with that");
            if (!bench.dut->can("send")) return;
            bench.step("The DUT sends to a group of the tester", rfc4391::sender_checks_group);
            const auto third = bench.fresh_group();
            const auto port = bench.fresh_port();
            bench.sa.join(third);
            const auto datagram = udp_from_dut(third, port).sent_anywhere();
            for (int i = 0; i < 5 && !bench.happens(datagram, within(0ms)); ++i) {
                bench.dut.tries_to_send(third, port);
                (void)bench.happens(datagram, within(3s));
            }
            bench.require(datagram, within(0ms));
        },
};

const Case deleted_group_is_joined_again{
    .id = "IPOIB-4391-10-VAL-022",
    .title = "A program's group that was deleted is joined again",
    .checks = {&rfc4391::receiver_full_member_join, &rfc4392::receiver_joins},
    .pass_if =
        "after the administrator has deleted the group of a program, and the SA has reported that to the DUT, the DUT "
        "is FullMember of it again. WARN where it is not: nobody has asked it to reregister. NA where the DUT hears of "
        "no deletion",
    .tags = {"sa", "trap", "ipv4", "ipv6"},
    .impact = Impact::link,
    .needs = Ability::trusted_sa | Ability::fabric_control | Ability::see_all,
    .dut_can = {"join"},
    .in_both_families = true,
    .lasts_at_most = 60s,
    .steps =
        [](Bench& bench) {
            const auto group = joined_group(bench);
            bench.step("The administrator deletes the group");
            bench.fabric.change(SetGroup{bench.mgid_of(group), false});
            bench.pass_time(2s);
            if (!bench.sa.reports_to_dut(trap::multicast_group_deleted))
                bench.not_applicable("the DUT has not subscribed to trap 67 (group deleted), and hears of nothing");
            // Whether a membership ends with its group, or when the port is asked to reregister, is disputed.
            bench.recommend_sent(bench.sa.has_dut_as_full_member(group, within(30s)), "FullMember of " + text(group),
                                 "not at the SA");
        },
};

const Case sender_asks_again{
    .id = "IPOIB-4391-10-VAL-024",
    .title = "A sender whose question about a group was not answered asks again with later packets",
    .checks = {&rfc4391::sender_checks_group},
    .pass_if = "once the subnet administrator answers again the DUT's later datagrams for the group are sent",
    .tags = {"sa", "egress", "ipv4", "ipv6"},
    .impact = Impact::fabric,
    .needs = Ability::fabric_control | Ability::see_all,
    .dut_can = {"send"},
    .in_both_families = true,
    .lasts_at_most = 100s,
    .steps =
        [](Bench& bench) {
            const auto group = bench.fresh_group();
            const auto mgid = bench.sa.join(group).mgid;
            bench.step("The SA does not answer while the DUT sends to a group of the tester");
            bench.fabric.change(SetSa{.is_silent = true});
            sends_once_it_can(bench, group, mgid);
        },
};

const Case refused_sender_asks_again{
    .id = "IPOIB-4391-10-VAL-025",
    .title = "A sender whose request about a group was refused asks again with later packets",
    .checks = {&rfc4391::sender_checks_group},
    .pass_if = "once the subnet administrator grants it the DUT's later datagrams for the group are sent",
    .tags = {"sa", "egress", "ipv4", "ipv6"},
    .impact = Impact::link,
    .needs = Ability::fabric_control | Ability::see_all,
    .dut_can = {"send"},
    .in_both_families = true,
    .lasts_at_most = 100s,
    .steps =
        [](Bench& bench) {
            const auto group = bench.fresh_group();
            const auto mgid = bench.sa.join(group).mgid;
            bench.step("The SA refuses every join of a group of the tester while the DUT sends to it");
            bench.fabric.change(refused_joins(mgid));
            sends_once_it_can(bench, group, mgid);
        },
};

const Case unanswered_leave_is_repeated{
    .id = "IPOIB-4391-10-VAL-026",
    .title = "A leave that the subnet administrator does not answer for some seconds is sent again",
    .checks = {&rfc4391::leaves_group},
    .pass_if = "once the subnet administrator answers again the DUT is no FullMember of a group that its program left",
    .tags = {"sa", "ipv4", "ipv6"},
    .impact = Impact::fabric,
    .needs = Ability::trusted_sa | Ability::fabric_control | Ability::see_all,
    .dut_can = {"join", "leave"},
    .in_both_families = true,
    .lasts_at_most = 100s,
    .steps =
        [](Bench& bench) {
            const auto group = joined_group(bench);
            const auto mgid = bench.mgid_of(group);
            bench.step("The program leaves while the SA does not answer");
            bench.fabric.change(SetSa{.is_silent = true});
            bench.dut->leave(group);
            if (!bench.happens(leave_of(mgid), within(5s)))
                bench.not_applicable("the DUT does not leave the group at once");
            // Longer than it takes a MAD layer to give a request up (3 s in Linux).
            bench.pass_time(5s);
            bench.step("It answers again");
            bench.fabric.change(SetSa{.resets = true});
            bool has_left = false;
            for (int i = 0; i < 40 && !has_left; ++i) {
                bench.pass_time(1s);
                has_left = (bench.sa.join_state_of_dut(mgid) & join_state::full_member) == 0;
            }
            bench.require(has_left, "no FullMember of " + text(group) + " any more", "still at the SA");
        },
};

const Case interface_down_leaves_its_groups{
    .id = "IPOIB-4391-10-VAL-023",
    .title = "An interface that is taken down leaves its groups at the SA",
    .checks = {&rfc4391::leaves_group, &rfc4392::sender_leaves_in_time},
    .pass_if =
        "after the DUT was taken down it is FullMember neither of a program's group, nor of IP's own, nor of the "
        "broadcast group; nor does it stay in a group that it has sent to",
    .tags = {"sa", "ipv4", "ipv6"},
    .needs = Ability::trusted_sa,
    .dut_can = {"join", "up", "down"},
    .in_both_families = true,
    .lasts_at_most = 140s,
    .steps =
        [](Bench& bench) {
            const auto group = joined_group(bench);
            const auto own = Bench::all_nodes(bench.situation().family);
            const bool has_own = bench.sa.join_state_of_dut(bench.mgid_of(own)) != 0;
            const auto sent_to = bench.fresh_group();
            const bool sends = bench.dut->can("send");
            if (sends) {
                bench.step("It sends to a group of the tester");
                bench.sa.join(sent_to);
                bench.dut.is_seen_to_send(sent_to, bench.fresh_port());
            }
            const auto state_of_sender = [&] { return bench.sa.join_state_of_dut(bench.mgid_of(sent_to)); };
            bench.step("The interface is taken down", rfc4391::leaves_group);
            bench.dut->down();
            bench.pass_time(5s);
            for (const auto& one : {group, own}) {
                if (one == own && !has_own) continue;
                const auto state = bench.sa.join_state_of_dut(bench.mgid_of(one));
                bench.require((state & join_state::full_member) == 0, "no FullMember of " + text(one) + " any more",
                              "JoinState " + std::to_string(state));
            }
            const auto state = bench.sa.join_state_of_dut(bench.link().broadcast_gid());
            bench.require((state & join_state::full_member) == 0, "no FullMember of the broadcast group any more",
                          "JoinState " + std::to_string(state));
            bench.same_step("It is no sender any more", rfc4392::sender_leaves_in_time);
            // Its timer may go on.
            constexpr auto longest = 60s;
            for (auto waited = 0s; sends && state_of_sender() != 0 && waited < longest; waited += 5s)
                bench.pass_time(5s);
            const auto left = sends ? state_of_sender() : std::uint8_t{0};
            bench.require(left == 0, "no member of " + text(sent_to) + " any more",
                          "JoinState " + std::to_string(left));
            bench.dut.comes_up();
        },
};

}  // namespace ipoib::conformance
