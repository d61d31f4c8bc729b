// SPDX-License-Identifier: GPL-2.0-or-later
#include "protocol/wire/igmp.hpp"
#include "traffic-gen/profiles/connections.hpp"
#include "traffic-gen/profiles/exchanges.hpp"

namespace ipoib::traffic {
using namespace wire;

namespace {

constexpr std::uint32_t all_routers = 0xe0000002;
constexpr auto between_rounds = std::chrono::seconds{3};
constexpr std::size_t between_joins = 5;

/// Part of the life of a link.
struct Life {
    Stage& stage;
    const Net& net;
    std::uint32_t& connections;

    void goes_on() const {
        const auto first = stage.any(net.hosts.size()), second = first + 1 + stage.any(net.hosts.size() - 1);
        const auto &from = net.host(first), &to = net.host(second);
        switch (stage.any(6)) {
            case 0:
                resolve(stage, net, first, second);
                resolve6(stage, net, first, second);
                break;
            case 1:
                ask_for_path(stage, from, to, net.link);
                stage.send(build::echo_request(from, to, net.link, 1, stage.size()));
                stage.send(build::echo_reply(to, from, net.link, 1, stage.size()));
                break;
            case 2:
                connects(from, to);
                break;
            case 3:
                goes(to, stage.scene().group4(stage.any(stage.scene().groups())));
                break;
            default:
                comes(from, to, stage.scene().group4(stage.any(stage.scene().groups())));
        }
    }
    /// Another program of the port does, or it renews what it has.
    void joins_again(const build::Node& host) const {
        stage.membership(host.gid, net.link.broadcast_gid()) = 0;
        join(stage, host, net.link, net.link.broadcast_gid(), join_state::full_member);
    }

private:
    [[nodiscard]] Gid mgid(std::uint32_t group) const { return mgid_for_ipv4(group, net.link.p_key, net.link.scope); }
    void comes(const build::Node& sender, const build::Node& listener, std::uint32_t group) const {
        join(stage, listener, net.link, mgid(group), join_state::full_member);
        stage.send(build::igmp(listener, igmp_type::report_v2, group, stage.scene().mlid(mgid(group)), net.link));
        join(stage, sender, net.link, mgid(group), join_state::send_only_non_member);
        for (auto times = 2 + stage.any(3); times > 0; --times)
            stage.send(build::udp_to_group(sender, group, stage.scene().mlid(mgid(group)), net.link, stage.size()));
    }
    void goes(const build::Node& listener, std::uint32_t group) const {
        if ((stage.membership(listener.gid, mgid(group)) & join_state::full_member) == 0) return;
        join(stage, net.hosts.front(), net.link, mgid(all_routers), join_state::full_member);
        join_to_send(stage, listener, net.link, mgid(all_routers));
        stage.send(build::igmp(listener, igmp_type::leave, group, stage.scene().mlid(mgid(all_routers)), net.link));
        leave(stage, listener, net.link, mgid(group), join_state::full_member);
    }
    void connects(build::Node from, build::Node to) const {
        from.link_flags = to.link_flags = flag_rc;
        Connection connection{stage, net.link, from, to, connections++};
        connection.resolve();
        connection.begin();
        connection.echo(1, stage.size());
        connection.close();
    }
};

}  // namespace

/// What is not in a capture may have happened all the same.
const Profile late_start{
    .name = "late-start",
    .what = "a capture that begins in the middle of hosts' lives, and has lost some packets",
    .impact = Impact::link,
    .no_fabric = "a fabric loses nothing by itself",
    .prepare = [](Stage&) {},
    .play =
        [](Stage& stage) {
            constexpr unsigned all = 1, few = 12;
            const auto& nets = stage.scene().nets();
            std::uint32_t connections = 0;
            const auto live = [&] {
                const auto& net = nets[stage.any(nets.size())];
                Life{stage, net, connections}.goes_on();
            };
            stage.hide_one_of(all);
            bring_up_senders(stage);
            for (auto times = 4 * nets.size() * nets.front().hosts.size() + stage.any(100); times > 0; --times) live();
            stage.pause(between_rounds);
            stage.hide_one_of(few);
            for (std::size_t i = 0; stage.goes_on(); ++i) {
                if (i % between_joins == 0) {
                    const auto& net = nets[i % nets.size()];
                    Life{stage, net, connections}.joins_again(net.host(i / between_joins));
                }
                live();
            }
            stage.hide_one_of(0);
        },
};

}  // namespace ipoib::traffic
