// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/sa/raw_request.hpp"

#include <algorithm>

namespace ipoib::conformance {
namespace {

using M = McMemberRecord;

template <class Header>
Bytes<Header> octets_of(View<Header> header) {
    Bytes<Header> copy;
    std::copy_n(header.data(), Header::size, copy.octets.begin());
    return copy;
}

/// The same with a GRH that gives this GID as the sender's.
Message from_gid(const Message& message, const Gid& sender, const Gid& to) {
    return message.edited(" with GRH.SGID " + text(sender), [=](build::PacketBuilder& packet) {
        const auto behind = packet.from(spec_of<Mad>);
        build::PacketBuilder global;
        global.add(octets_of(packet.get<Lrh>()))
            .add(Bytes<Grh>{}.set(Grh::hop_limit, 1).set(Grh::sgid, sender).set(Grh::dgid, to))
            .add(octets_of(packet.get<Bth>()))
            .add(octets_of(packet.get<Deth>()))
            .add(behind);
        packet = global;
    });
}

}  // namespace

const Case requesters_are_known_by_their_lid{
    .id = "IPOIB-IBA-15.2.5.17-INV-005",
    .title = "A leave in another port's name ends nothing, whatever GID its sender gives as its own",
    .checks = {&iba::own_membership_protected},
    .pass_if =
        "the group of the port's only FullMember is there after another port has asked for its end with that port's "
        "GID in the GRH. Whether the SA believes that port's LID, too, is noted",
    .tags = {"sa", "spoof", "tenant"},
    .impact = Impact::link,
    .needs = Ability::two_ports | Ability::any_frame,
    .subject = Subject::sa,
    .lasts_at_most = 20s,
    .steps =
        [](Bench& bench) {
            auto& stranger = bench.tester.first();
            auto& owner = bench.tester.second();
            const auto facts = bench.tester.port();
            const auto manager = stranger.gid_of(facts.sm_lid);
            const auto leave_of = [&](const Gid& mgid, const Gid& member) {
                return raw_request("leave of " + text(mgid), facts, Method::del,
                                   Bytes<M>{}
                                       .set(M::mgid, mgid)
                                       .set(M::port_gid, member)
                                       .set(M::join_state, static_cast<std::uint8_t>(JoinState::full_member)),
                                   M::component::join);
            };
            const auto is_there_after = [&](const Message& message, const Gid& mgid) {
                stranger.send(message);
                bench.pass_time(1s);
                return bench.sa.group(mgid).has_value();
            };
            const auto fresh = [&](TesterPort& port) {
                return port.join(bench.mgid_of(bench.fresh_group4()), JoinState::full_member).mgid;
            };
            bench.step("The SA hears of a leave with a GRH, and without");
            const auto own = stranger.self().gid;
            for (const bool is_global : {false, true}) {
                const auto group = fresh(stranger);
                const auto leave = leave_of(group, own);
                bench.precondition(!is_there_after(is_global ? from_gid(leave, own, manager) : leave, group),
                                   "the group ends");
            }
            const auto group = fresh(owner);
            const auto leave = leave_of(group, owner.self().gid);
            bench.step("Another port leaves in its name");
            bench.require(is_there_after(leave, group), "the group as it was", "no group");
            bench.step("It gives the other's GID as the sender's");
            bench.require(is_there_after(from_gid(leave, owner.self().gid, manager), group), "the group as it was",
                          "no group");
            bench.step("It gives the other's LID as the sender's");
            bench.note(is_there_after(leave.with(Lrh::slid, owner.self().lid), group)
                           ? "a leave with another port's SLID has no effect here"
                           : "a leave with another port's SLID ends its membership: no text forbids it, and who can "
                             "send such a frame can do so");
        },
};

}  // namespace ipoib::conformance
