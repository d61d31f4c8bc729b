// SPDX-License-Identifier: GPL-2.0-or-later
#include "protocol/wire/mld.hpp"
#include "traffic-gen/manager.hpp"
#include "traffic-gen/profiles/exchanges.hpp"

namespace ipoib::traffic {
using namespace wire;

namespace {

/// Longer than anybody may take to follow its IP: what is missing then is seen to be missing.
constexpr auto between_changes = std::chrono::seconds{40};
constexpr std::uint32_t group_of_routers = 0xe0000002;

/// One host, and the groups that its IP joins and leaves.
struct Listener {
    Stage& stage;
    const build::Node& host;
    const build::Link& link;
    std::uint32_t group4;
    Gid group6;
    bool is_first;  ///< nobody else is in the groups yet

    [[nodiscard]] Gid mgid(std::uint32_t group) const { return mgid_for_ipv4(group, link.p_key, link.scope); }
    [[nodiscard]] Gid mgid(const Gid& group) const { return mgid_for_ipv6(group, link.p_key, link.scope); }
    [[nodiscard]] std::uint16_t mlid(const auto& group) const { return stage.scene().mlid(mgid(group)); }

    void report6(std::uint8_t record_type) const {
        const auto routers = build::all_mldv2_routers();
        if (!join_to_send(stage, host, link, mgid(routers))) return;
        stage.send(build::mld_report(host, record_type, group6, mlid(routers), link));
    }
    void comes() const {
        if (is_first) {
            look_in_vain(stage, host, link, mgid(group4));
            look_in_vain(stage, host, link, mgid(group6));
        }
        join(stage, host, link, mgid(group4), join_state::full_member);
        stage.send(build::igmp(host, igmp_type::report_v2, group4, mlid(group4), link));
        join(stage, host, link, mgid(group6), join_state::full_member);
        report6(group_record::to_exclude);
    }
    void goes() const {
        // Without routers there is nobody to tell.
        if (join_to_send(stage, host, link, mgid(group_of_routers))) {
            stage.send(build::igmp(host, igmp_type::leave, group4, mlid(group_of_routers), link));
            leave(stage, host, link, mgid(group_of_routers), join_state::send_only_non_member);
        }
        leave(stage, host, link, mgid(group4), join_state::full_member);
        report6(group_record::to_include);
        leave(stage, host, link, mgid(build::all_mldv2_routers()), join_state::send_only_non_member);
        leave(stage, host, link, mgid(group6), join_state::full_member);
    }
};

}  // namespace

const Profile membership{
    .name = "membership",
    .what = "hosts join groups, report them by IGMP and MLD, and leave them again after a while",
    .impact = Impact::link,
    .needs_neighbour = false,
    .play =
        [](Stage& stage) {
            auto& scene = stage.scene();
            const auto& net = scene.net();
            for (const auto& host : net.hosts) subscribe(stage, host);
            for (std::size_t i = 0; stage.goes_on(); ++i) {
                const auto each = [&](auto&& what) {
                    for (const auto& host : net.hosts)
                        what(Listener{stage, host, net.link, scene.group4(i), scene.group6(i),
                                      &host == &net.hosts.front()});
                    pass(stage, between_changes);
                };
                each([](const Listener& one) { one.comes(); });
                each([](const Listener& one) { one.goes(); });
            }
        },
};

}  // namespace ipoib::traffic
