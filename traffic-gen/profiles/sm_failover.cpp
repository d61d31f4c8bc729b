// SPDX-License-Identifier: GPL-2.0-or-later
#include "traffic-gen/manager.hpp"
#include "traffic-gen/profiles/exchanges.hpp"

namespace ipoib::traffic {
using namespace wire;

namespace {

/// A question that is not answered any more.
void asks_in_vain(Stage& stage, const build::Node& host, const build::Node& to, const build::Link& link) {
    const auto asked = path(host, to, link);
    const auto transaction = stage.transaction();
    using P = PathRecord::component;
    for (unsigned i = 0; i < 2; ++i)
        stage.send(build::administration(host, stage.scene().administrator(), Method::get, attribute::path_record,
                                         transaction, asked, P::sgid | P::dgid | P::p_key));
}

/// The one that stood by becomes master: it tells each port where it is, and to register anew. IBTA Vol 1, 14.4.
void takes_over(Stage& stage, const build::Node& next) {
    auto& scene = stage.scene();
    scene.set_administrator(next);
    const auto& net = scene.net();
    for (const auto& host : net.hosts) {
        auto info = port_info_of(host, next, net.link);
        manage(stage, host, Method::set, smp_attribute::port_info, info.set(PortInfo::client_reregister, true), 1);
    }
    stage.forget_memberships();
    // It may have what the former one knew; or it gives MLIDs as it likes.
    if (stage.any(2) == 0) scene.forget_mlids();
}

void registers(Stage& stage, const build::Node& host, const build::Link& link) {
    join(stage, host, link, link.broadcast_gid(), join_state::full_member);
    subscribe(stage, host);
}

void any_request(Stage& stage, const Net& net) {
    auto& scene = stage.scene();
    const auto first = stage.any(net.hosts.size()), second = first + 1 + stage.any(net.hosts.size() - 1);
    const auto &from = net.host(first), &to = net.host(second);
    const auto group = scene.group4(stage.any(scene.groups()));
    const auto mgid = mgid_for_ipv4(group, net.link.p_key, net.link.scope);
    resolve(stage, net, first, second);
    ask_for_path(stage, from, to, net.link);
    stage.send(build::udp(from, to, net.link, stage.size()));
    join(stage, to, net.link, mgid, join_state::full_member);
    join_to_send(stage, from, net.link, mgid);
    stage.send(build::udp_to_group(from, group, scene.mlid(mgid), net.link, stage.size()));
}

}  // namespace

/// RFC 4391, 5 and 10: what was registered is registered again.
const Profile sm_failover{
    .name = "sm-failover",
    .what = "subnet managers take over from each other, and hosts register anew while they go on speaking",
    .impact = Impact::fabric,
    .no_fabric = "it plays the subnet manager",
    .prepare = bring_up_senders,
    .play =
        [](Stage& stage) {
            auto& scene = stage.scene();
            auto here = scene.administrator(), there = scene.other(0xfff);
            there.qpn = here.qpn;
            while (stage.goes_on()) {
                for (auto times = 3 + stage.any(8); times > 0; --times)
                    any_request(stage, scene.nets()[stage.any(scene.nets().size())]);
                const auto& net = scene.net();
                asks_in_vain(stage, net.host(1 + stage.any(net.hosts.size() - 1)), net.host(0), net.link);
                std::swap(here, there);
                takes_over(stage, here);
                for (const auto& link : scene.nets())
                    for (const auto& host : link.hosts) {
                        registers(stage, host, link.link);
                        // What is for one neighbour needs no group.
                        if (stage.any(2) == 0) stage.send(build::udp(host, link.host(1), link.link, stage.size()));
                    }
            }
        },
};

}  // namespace ipoib::traffic
