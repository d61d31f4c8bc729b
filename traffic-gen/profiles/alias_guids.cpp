// SPDX-License-Identifier: GPL-2.0-or-later
#include "traffic-gen/manager.hpp"
#include "traffic-gen/profiles/exchanges.hpp"

#include <algorithm>

namespace ipoib::traffic {
using namespace wire;

namespace {

constexpr std::size_t most_functions = 7;  ///< beside the port's own GUID, in the first block of its table

/// Virtual functions of an adapter: interfaces with a GUID, a queue pair and addresses of their own, behind the LID of
/// the port that they share. IBTA Vol 1, 14.2.5.5 (GUIDInfo).
struct Adapter {
    build::Node port;
    std::vector<build::Node> functions;
};

/// A function begins its life on a link.
void comes(Stage& stage, const build::Node& function, const build::Link& link) {
    join(stage, function, link, link.broadcast_gid(), join_state::full_member);
    subscribe(stage, function);
    announce4(stage, function, link);
}

std::vector<Adapter> adapters(Stage& stage, std::size_t number) {
    const auto& net = stage.scene().nets()[number];
    std::vector<Adapter> all;
    for (std::size_t i = 0; i < std::min<std::size_t>(net.hosts.size(), 16); ++i) {
        auto& adapter = all.emplace_back(Adapter{.port = net.host(i), .functions = {}});
        for (std::size_t n = 0; n < 1 + (i + stage.options().seed) % most_functions; ++n) {
            adapter.functions.push_back(stage.scene().other(16 * i + n, number));
            adapter.functions.back().lid = adapter.port.lid;
        }
    }
    return all;
}

/// Two interfaces speak with each other, who may share a port.
void meet(Stage& stage, const Net& pair) {
    const auto &from = pair.host(0), &to = pair.host(1);
    resolve(stage, pair, 0, 1);
    if (stage.any(2) == 0) {
        ask_for_path(stage, from, to, pair.link);
        ask_for_path(stage, to, from, pair.link);
    }
    const auto size = stage.size();
    const auto request = build::echo_request(from, to, pair.link, 1, size);
    const auto reply = build::echo_reply(to, from, pair.link, 1, size);
    // A virtual function may be told apart by its GID.
    stage.send(stage.any(2) == 0 ? request : with_grh<Ipv4, Icmp>(from, to, pair.link, request));
    stage.send(stage.any(2) == 0 ? reply : with_grh<Ipv4, Icmp>(to, from, pair.link, reply));
    if (stage.any(3) != 0) return;
    resolve6(stage, pair, 1, 0);
    stage.send(build::echo_request6(to, from, pair.link, 1, size));
}

const build::Node& any_of(Stage& stage, const std::vector<Adapter>& all) {
    const auto& adapter = all[stage.any(all.size())];
    const auto index = stage.any(adapter.functions.size() + 1);
    return index == 0 ? adapter.port : adapter.functions[index - 1];
}

}  // namespace

/// RFC 4391, 9.1.1: a port has several GIDs.
const Profile alias_guids{
    .name = "alias-guids",
    .what = "virtual functions with GUIDs of their own speak, several at one LID",
    .impact = Impact::fabric,
    .no_fabric = "it plays the subnet manager, and interfaces of virtual functions",
    .prepare = bring_up_senders,
    .play =
        [](Stage& stage) {
            const auto& nets = stage.scene().nets();
            std::vector<std::vector<Adapter>> links;
            for (std::size_t i = 0; i < nets.size(); ++i) {
                links.push_back(adapters(stage, i));
                for (const auto& adapter : links.back()) {
                    if (i == 0)
                        manage(stage, adapter.port, Method::set, smp_attribute::guid_info,
                               guid_block(adapter.port, adapter.functions));
                    for (const auto& function : adapter.functions) comes(stage, function, nets[i].link);
                }
            }
            while (stage.goes_on()) {
                const auto link = stage.any(nets.size());
                const auto &from = any_of(stage, links[link]), &to = any_of(stage, links[link]);
                if (from.gid != to.gid) meet(stage, Net{nets[link].link, {from, to}});
            }
        },
};

}  // namespace ipoib::traffic
