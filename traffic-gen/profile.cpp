// SPDX-License-Identifier: GPL-2.0-or-later
// Profiles by name, and the exchanges that they share.
#include "traffic-gen/profile.hpp"

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

}  // namespace

std::string_view name(Impact impact) noexcept {
    constexpr std::array<std::string_view, 4> names{"observe", "dut", "link", "fabric"};
    return names[static_cast<std::size_t>(impact)];
}

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

void join(Stage& stage, const build::Node& host, const build::Link& link, const Gid& mgid, std::uint8_t state) {
    auto& states = stage.membership(host.gid, mgid);
    if ((states & state) == state) return;
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
}

void leave(Stage& stage, const build::Node& host, const build::Link& link, const Gid& mgid, std::uint8_t state) {
    auto& states = stage.membership(host.gid, mgid);
    states &= static_cast<std::uint8_t>(~state);
    const auto record = build::group_record(host, link, mgid, stage.scene().mlid(mgid), state);
    ask(stage, host, Method::del, record, M::component::join, record, Method::delete_resp);
}

void bring_up(Stage& stage) {
    for (const auto& net : stage.scene().nets())
        for (const auto& host : net.hosts)
            join(stage, host, net.link, net.link.broadcast_gid(), join_state::full_member);
}

void join_to_send(Stage& stage, const build::Node& host, const build::Link& link, const Gid& mgid) {
    if (stage.membership(host.gid, mgid) == 0) join(stage, host, link, mgid, join_state::send_only_non_member);
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
