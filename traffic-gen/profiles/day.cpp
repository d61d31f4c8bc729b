// SPDX-License-Identifier: GPL-2.0-or-later
#include "traffic-gen/profiles/exchanges.hpp"

namespace ipoib::traffic {
using namespace wire;

namespace {

/// Of one link: who speaks with whom is a matter of chance.
void something(Stage& stage, const Net& net) {
    auto& scene = stage.scene();
    const auto& link = net.link;
    const auto first = stage.any(net.hosts.size()), second = first + 1 + stage.any(net.hosts.size() - 1);
    const auto &from = net.host(first), &to = net.host(second);
    const auto group = scene.group4(stage.any(scene.groups()));
    const auto mgid = mgid_for_ipv4(group, link.p_key, link.scope);
    constexpr std::size_t hundred = 100;
    const auto chance = stage.any(hundred);
    if (chance < 5) {
        resolve(stage, net, first, second);
    } else if (chance < 10) {
        resolve6(stage, net, first, second);
    } else if (chance < 20) {
        stage.send(echo_request(from, to, link, 1, stage.size()));
        stage.send(echo_reply(to, from, link, 1, stage.size()));
    } else if (chance < 30) {
        stage.send(echo_request6(from, to, link, 1, stage.size()));
    } else if (chance < 45) {
        join(stage, to, link, mgid, join_state::full_member);
        join_to_send(stage, from, link, mgid);
        stage.send(udp_to_group(from, group, scene.mlid(mgid), link, stage.size()));
    } else {
        stage.send(udp(from, to, link, stage.size()));
    }
}

}  // namespace

const Profile ordinary_day{
    .name = "day",
    .what = "an ordinary day of a cluster: all of it, between all hosts, on every partition",
    .impact = Impact::link,
    .prepare = bring_up_senders,
    .play =
        [](Stage& stage) {
            const auto& nets = stage.scene().nets();
            while (stage.goes_on()) something(stage, nets[stage.any(nets.size())]);
        },
};

}  // namespace ipoib::traffic
