// SPDX-License-Identifier: GPL-2.0-or-later
// Profiles by name, and the exchanges that they share.
#include "traffic-gen/profile.hpp"

#include "traffic-gen/manager.hpp"

#include <algorithm>
#include <array>

namespace ipoib::traffic {
using namespace wire;

namespace {

using M = McMemberRecord;

/// A request of the SA, and its answer.
void ask(Stage& stage, const build::Node& host, Method method, const Bytes<M>& asked, std::uint64_t components,
         const Bytes<M>& answered, Method answer) {
    const auto& administrator = stage.scene().administrator();
    const auto transaction = stage.transaction();
    stage.send(build::mc_member(host, administrator, method, transaction, asked, components));
    stage.send(build::mc_member(administrator, host, answer, transaction, answered, components));
}

/// A host that is not ours joins by itself.
bool really_join(Stage& stage, const build::Node& host, const Gid& mgid, std::uint8_t state) {
    if (!stage.administrator()->is_ours(host)) return true;
    if (!stage.ask([&](Administrator& sa, Time time) { return sa.join(time, host, mgid, state); })) return false;
    stage.scene().set_mlid(mgid, stage.administrator()->mlid(mgid));
    stage.membership(host.gid, mgid) |= state;
    return true;
}

}  // namespace

namespace {

/// Each host tells its links where it is, so that what goes to its queue pair is known to be IPoIB. On a fabric the
/// hosts themselves have done so.
void announce(Stage& stage) {
    if (stage.administrator()) return;
    for (const auto& net : stage.scene().nets())
        for (const auto& host : net.hosts) stage.send(build::arp_request(host, host.ipv4, net.link));
}

}  // namespace

std::vector<const Profile*> all_profiles() {
    auto profiles = Registered<Profile>::list();
    std::ranges::sort(profiles, {}, &Profile::name);
    return profiles;
}

const Profile* find_profile(std::string_view name) {
    for (const auto* profile : Registered<Profile>::list())
        if (profile->name == name) return profile;
    return nullptr;
}

void play(const Profile& profile, Stage& stage) {
    profile.prepare ? profile.prepare(stage) : bring_up(stage);
    stage.begin();
    profile.play(stage);
}

bool join(Stage& stage, const build::Node& host, const build::Link& link, const Gid& mgid, std::uint8_t state) {
    auto& states = stage.membership(host.gid, mgid);
    if ((states & state) == state) return true;
    if (stage.administrator()) return really_join(stage, host, mgid, state);
    states |= state;
    const auto granted = build::group_record(host, link, mgid, stage.scene().mlid(mgid), state);
    auto asked = granted;
    // The administrator chooses the MLID.
    asked.set(M::mlid, 0);
    const bool is_creation = (state & join_state::full_member) != 0 && !is_broadcast_gid(mgid);
    using C = M::component;
    const auto given = is_creation ? C::create | C::mtu_selector | C::mtu | C::rate_selector | C::rate | C::hop_limit
                                   : std::uint64_t{C::join};
    ask(stage, host, Method::set, asked, given, granted, Method::get_resp);
    return true;
}

void leave(Stage& stage, const build::Node& host, const build::Link& link, const Gid& mgid, std::uint8_t state) {
    auto& states = stage.membership(host.gid, mgid);
    if ((states & state) == 0) return;
    states &= static_cast<std::uint8_t>(~state);
    if (auto* administrator = stage.administrator()) {
        if (administrator->is_ours(host))
            (void)stage.ask([&](Administrator& sa, Time time) { return sa.leave(time, host, mgid, state); });
        return;
    }
    const auto record = build::group_record(host, link, mgid, stage.scene().mlid(mgid), state);
    ask(stage, host, Method::del, record, M::component::join, record, Method::delete_resp);
}

void come_up(Stage& stage, const build::Node& host, const build::Link& link) {
    if (stage.administrator()) return;
    const auto& manager = stage.scene().administrator();
    for (const auto state : {PortState::armed, PortState::active}) {
        const auto info = port_info_of(host, manager, link).set(PortInfo::port_state, state);
        stage.send(build::port_info(manager, host, Method::set, info));
        stage.send(build::port_info(host, manager, Method::get_resp, info));
    }
}

void bring_up(Stage& stage) {
    const auto& first = stage.scene().net();
    for (const auto& host : first.hosts)
        if (stage.memberships_of(host.gid).empty()) come_up(stage, host, first.link);
    for (const auto& net : stage.scene().nets())
        for (const auto& host : net.hosts)
            join(stage, host, net.link, net.link.broadcast_gid(), join_state::full_member);
    announce(stage);
}

bool join_to_send(Stage& stage, const build::Node& host, const build::Link& link, const Gid& mgid) {
    return stage.membership(host.gid, mgid) != 0 || join(stage, host, link, mgid, join_state::send_only_non_member);
}

void resolve(Stage& stage, const Net& net, std::size_t from, std::size_t to) {
    stage.send(build::arp_request(net.host(from), net.host(to).ipv4, net.link));
    stage.send(build::arp_reply(net.host(to), net.host(from), net.link));
}

void resolve6(Stage& stage, const Net& net, std::size_t from, std::size_t to) {
    const auto &asks = net.host(from), &answers = net.host(to);
    const auto mgid = mgid_for_ipv6(solicited_node_group(answers.ipv6), net.link.p_key, net.link.scope);
    join(stage, answers, net.link, mgid, join_state::full_member);
    join_to_send(stage, asks, net.link, mgid);
    stage.send(build::neighbour_solicitation(asks, answers.ipv6, stage.scene().mlid(mgid), net.link));
    stage.send(build::neighbour_advertisement(answers, asks, net.link));
}

}  // namespace ipoib::traffic
