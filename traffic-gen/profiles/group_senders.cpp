// SPDX-License-Identifier: GPL-2.0-or-later
#include "traffic-gen/manager.hpp"
#include "traffic-gen/profiles/exchanges.hpp"

#include <array>

namespace ipoib::traffic {
using namespace wire;

namespace {

constexpr auto between_sendings = std::chrono::seconds{40};

/// mDNS, LLMNR, NTP and SSDP; mDNS and LLMNR.
constexpr std::array<std::uint32_t, 4> groups4{0xe00000fb, 0xe00000fc, 0xe0000101, 0xeffffffa};
constexpr std::array groups6{Gid::of(std::uint64_t{0xff02} << 48, 0xfb), Gid::of(std::uint64_t{0xff02} << 48, 0x10003)};

/// One host that sends to groups, and one that has created them to listen.
struct Pair {
    Stage& stage;
    const build::Node &sender, &listener;
    const build::Link& link;

    void meet(const Gid& mgid) const {
        look_in_vain(stage, listener, link, mgid);
        join(stage, listener, link, mgid, join_state::full_member);
        join(stage, sender, link, mgid, join_state::send_only_non_member);
    }
    void part(const Gid& mgid) const {
        leave(stage, sender, link, mgid, join_state::send_only_non_member);
        leave(stage, listener, link, mgid, join_state::full_member);
    }
};

template <class Visit>
void for_each_group(Stage& stage, const build::Link& link, Visit&& visit) {
    for (const auto group : groups4) {
        const auto mgid = mgid_for_ipv4(group, link.p_key, link.scope);
        visit(mgid, [&](const build::Node& from) {
            return build::udp_to_group(from, group, stage.scene().mlid(mgid), link, stage.size());
        });
    }
    for (const auto& group : groups6) {
        const auto mgid = mgid_for_ipv6(group, link.p_key, link.scope);
        visit(mgid, [&](const build::Node& from) {
            return build::udp6_to_group(from, group, stage.scene().mlid(mgid), link, stage.size());
        });
    }
}

}  // namespace

/// RFC 4391, 10.
const Profile group_senders{
    .name = "group-senders",
    .what = "each host in turn joins groups that the next one has created, sends to them, and leaves them",
    .impact = Impact::link,
    .play =
        [](Stage& stage) {
            const auto& net = stage.scene().net();
            for (std::size_t i = 0; stage.goes_on(); ++i) {
                const Pair pair{stage, net.host(i), net.host(i + 1), net.link};
                if (i < net.hosts.size()) subscribe(stage, pair.sender);
                for_each_group(stage, net.link, [&](const Gid& mgid, auto&& datagram) {
                    pair.meet(mgid);
                    stage.send(datagram(pair.sender));
                });
                pass(stage, between_sendings);
                for_each_group(stage, net.link, [&](const Gid& mgid, auto&& datagram) {
                    stage.send(datagram(pair.sender));
                    pair.part(mgid);
                });
                pass(stage, between_sendings);
            }
        },
};

}  // namespace ipoib::traffic
