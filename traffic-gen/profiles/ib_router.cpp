// SPDX-License-Identifier: GPL-2.0-or-later
#include "traffic-gen/profiles/exchanges.hpp"

namespace ipoib::traffic {
using namespace wire;

namespace {

constexpr std::uint16_t routers = 2, first_router_lid = 0x7000;
constexpr std::uint64_t subnets = 3;

/// A link of several subnets: hosts here, and others behind the LIDs of IB routers.
struct Site {
    Stage& stage;
    build::Link here, there;  ///< as packets leave this subnet, and as they come into it

    explicit Site(Stage& to) : stage(to), here(spanning(to.scene())), there(here) { --there.hop_limit; }

    /// One of many: every host of the scene has a like in each other subnet, by any router.
    [[nodiscard]] build::Node far(std::size_t like, std::uint16_t router) const {
        return behind_router(stage.scene().net().host(like), static_cast<std::uint16_t>(first_router_lid + router),
                             1 + like % subnets);
    }
    void comes(const build::Node& host) const {
        join(stage, host, here, here.broadcast_gid(), join_state::full_member);
        subscribe(stage, host);
    }
    /// What the administrator says of the way there: by the router, with a GRH. RFC 4391, 9.1.
    void looks_for(const build::Node& host, const build::Node& far) const {
        using C = PathRecord::component;
        const std::array answers{path(host, far, here).set(PathRecord::hop_limit, here.hop_limit)};
        ask(stage, host,
            Question<PathRecord>{.method = Method::get,
                                 .attribute = attribute::path_record,
                                 .asked = Bytes<PathRecord>{}
                                              .set(PathRecord::sgid, host.gid)
                                              .set(PathRecord::dgid, far.gid)
                                              .set(PathRecord::p_key, here.p_key)
                                              .set(PathRecord::number_of_paths, 1),
                                 .components = C::sgid | C::dgid | C::p_key | C::number_of_paths},
            std::span<const Bytes<PathRecord>>{answers});
    }
    void speak4(const build::Node& host, const build::Node& far) const {
        if (stage.any(2) == 0) {
            stage.send(build::arp_request(far, host.ipv4, there));
            stage.send(with_grh<Arp, ArpAddresses>(host, far, here, build::arp_reply(host, far, here)));
        } else {
            stage.send(build::arp_request(host, far.ipv4, here));
            stage.send(with_grh<Arp, ArpAddresses>(far, host, there, build::arp_reply(far, host, there)));
        }
        const auto size = stage.size();
        stage.send(with_grh<Ipv4, Icmp>(far, host, there, build::echo_request(far, host, there, 1, size)));
        stage.send(with_grh<Ipv4, Icmp>(host, far, here, build::echo_reply(host, far, here, 1, size)));
    }
    void speak6(const build::Node& host, const build::Node& far) const {
        const auto mgid = mgid_for_ipv6(solicited_node_group(host.ipv6), here.p_key, here.scope);
        join(stage, host, here, mgid, join_state::full_member);
        stage.send(build::neighbour_solicitation(far, host.ipv6, stage.scene().mlid(mgid), there));
        stage.send(with_grh<Ipv6, Icmpv6, NdTarget, LinkAddressOption>(
            host, far, here, build::neighbour_advertisement(host, far, here)));
        const auto size = stage.size();
        stage.send(with_grh<Ipv6, Icmpv6>(far, host, there, build::echo_request6(far, host, there, 1, size)));
    }
};

}  // namespace

/// RFC 4391, 6 and 9.1.
const Profile ib_router{
    .name = "ib-router",
    .what = "many hosts of other IB subnets behind the LIDs of IB routers, any of which may bring a packet",
    .impact = Impact::link,
    .no_fabric = "it plays routers",
    .prepare =
        [](Stage& stage) {
            const Site site{stage};
            for (const auto& host : stage.scene().net().hosts) site.comes(host);
        },
    .play =
        [](Stage& stage) {
            const Site site{stage};
            const auto& net = stage.scene().net();
            while (stage.goes_on()) {
                const auto& host = net.host(stage.any(net.hosts.size()));
                const auto like = stage.any(net.hosts.size());
                const auto far = site.far(like, static_cast<std::uint16_t>(stage.any(routers)));
                if (stage.any(3) == 0) site.looks_for(host, far);
                stage.any(3) == 0 ? site.speak6(host, far) : site.speak4(host, far);
                const auto near = stage.any(net.hosts.size());
                if (net.host(near).gid == host.gid) continue;
                resolve(stage, Net{site.here, {host, net.host(near)}}, 0, 1);
                stage.send(build::udp(host, net.host(near), site.here, stage.size()));
            }
        },
};

}  // namespace ipoib::traffic
