// SPDX-License-Identifier: GPL-2.0-or-later
#include "traffic-gen/manager.hpp"

#include <array>

namespace ipoib::traffic {
using namespace wire;

namespace {

/// The subnet manager sets up a port, and gives it the link's partition.
void set_up(Stage& stage, const build::Node& host, const build::Link& link) {
    const auto& manager = stage.scene().administrator();
    const auto info = port_info_of(host, manager, link);
    const std::array p_keys{std::uint16_t{0xffff}, link.p_key};
    stage.send(build::port_info(manager, host, Method::set, info));
    stage.send(build::port_info(host, manager, Method::get_resp, info));
    manage(stage, host, Method::get, smp_attribute::node_info, node_info_of(host, 32));
    stage.send(build::p_key_table(manager, host, Method::set, p_keys));
    stage.send(build::p_key_table(host, manager, Method::get_resp, p_keys));
}

}  // namespace

/// RFC 4391, 4.1 and 5.
const Profile port_setup{
    .name = "port-setup",
    .what = "the SM sets up ports, which join the broadcast group, announce themselves, and go down again",
    .impact = Impact::fabric,
    .no_fabric = "it plays the subnet manager",
    .prepare = [](Stage&) {},
    .play =
        [](Stage& stage) {
            const auto& net = stage.scene().net();
            for (std::size_t i = 0; stage.goes_on(); ++i) {
                const auto& host = net.host(i);
                set_up(stage, host, net.link);
                join(stage, host, net.link, net.link.broadcast_gid(), join_state::full_member);
                stage.send(build::arp_request(host, host.ipv4, net.link));
                leave(stage, host, net.link, net.link.broadcast_gid(), join_state::full_member);
            }
        },
};

}  // namespace ipoib::traffic
