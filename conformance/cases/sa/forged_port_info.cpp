// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"
#include "protocol/wire/port_info.hpp"

namespace ipoib::conformance {
namespace {

/// What a port would say of itself whose link is down.
Bytes<PortInfo> of_port_that_is_down(std::uint16_t lid, std::uint16_t sm_lid) {
    return Bytes<PortInfo>{}
        .set(PortInfo::gid_prefix, default_subnet_prefix)
        .set(PortInfo::lid, lid)
        .set(PortInfo::master_sm_lid, sm_lid)
        .set(PortInfo::local_port_num, 1)
        .set(PortInfo::port_state, PortState::down)
        .set(PortInfo::neighbor_mtu, 1);
}

/// The answer to a question that the subnet manager has not put, by whoever has this LID.
Message unasked_answer(std::uint16_t slid, std::uint16_t sm_lid, const Bytes<PortInfo>& info) {
    return {"answer with PortInfo that nobody asked for, from LID " + hex(slid, 4), [=](const Situation& s) {
                auto from = s.tester, manager = s.tester;
                from.lid = slid;
                manager.lid = sm_lid;
                return build::port_info(from, manager, Method::get_resp, info);
            }};
}

}  // namespace

const Case forged_port_info_ends_nothing{
    .id = "IPOIB-IBA-15.2.5.17-INV-006",
    .title = "What another port says of a port's link ends none of its memberships",
    .checks = {&iba::own_membership_protected},
    .pass_if =
        "another port tells the subnet manager, in answers that nobody asked for, and the administrator, as a record "
        "to be set, that a FullMember's link is down: the member's group is there, and the member can leave it. What "
        "the administrator answers, and tells of that port afterwards, is noted",
    .tags = {"sa", "spoof", "tenant"},
    .impact = Impact::link,
    .needs = Ability::two_ports | Ability::any_frame,
    .subject = Subject::sa,
    .lasts_at_most = 20s,
    .steps =
        [](Bench& bench) {
            auto& stranger = bench.tester.first();
            auto& owner = bench.tester.second();
            const auto manager = bench.tester.port().sm_lid;
            const auto lid = owner.self().lid;
            using R = PortInfoRecord;
            const auto about_owner = Bytes<R>{}.set(R::endport_lid, lid).set(R::port_num, 1);
            const auto ask = [&](Method method, const Bytes<R>& record) {
                return stranger.ask({.method = method,
                                     .attribute = attribute::port_info_record,
                                     .component_mask = R::component::endport_lid | R::component::port_num,
                                     .record = {record.octets.begin(), record.octets.end()}});
            };
            bench.step("A port is the only FullMember of a group");
            const auto group = owner.join(bench.mgid_of(bench.fresh_group4()), JoinState::full_member).mgid;
            bench.precondition(bench.sa.group(group).has_value(), "the group is there");
            const auto before = ask(Method::get, about_owner);
            bench.step("Another port answers in its place that its link is down, unasked");
            const auto info = of_port_that_is_down(lid, manager);
            for (const auto slid : {stranger.self().lid, lid}) stranger.send(unasked_answer(slid, manager, info));
            bench.step("It sets the record of the port's PortInfo");
            auto record = about_owner;
            record.set(R::port_info, info.octets);
            bench.note("to a record to be set: " + status_text(ask(Method::set, record)));
            bench.pass_time(1s);
            bench.step("The group and its member are there");
            bench.require(bench.sa.group(group).has_value(), "the group as it was", "no group");
            if (before.is_ok())
                bench.note(ask(Method::get, about_owner).data == before.data
                               ? "the administrator tells the same of the port as before"
                               : "the administrator tells something else of the port than before");
            bench.require(owner.ask_to_leave(group, JoinState::full_member).is_ok(), "the member can leave",
                          "it is no member");
        },
};

}  // namespace ipoib::conformance
