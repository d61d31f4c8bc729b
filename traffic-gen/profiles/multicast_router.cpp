// SPDX-License-Identifier: GPL-2.0-or-later
#include "protocol/wire/mgid.hpp"
#include "traffic-gen/manager.hpp"
#include "traffic-gen/profiles/exchanges.hpp"

namespace ipoib::traffic {
using namespace wire;

namespace {

constexpr auto between_groups = std::chrono::seconds{40};
constexpr std::uint32_t all_hosts = 0xe0000001;

/// The first host routes IP multicast, so it has to join all groups. RFC 4391, 11.
class Router {
public:
    explicit Router(Stage& stage)
        : stage_(stage), node_(stage.scene().net().host(0)), link_(stage.scene().net().link) {}

    [[nodiscard]] Gid mgid(std::uint32_t group) const { return mgid_for_ipv4(group, link_.p_key, link_.scope); }
    void joins(const Gid& group) const { join(stage_, node_, link_, group, join_state::non_member); }
    void leaves(const Gid& group) const { leave(stage_, node_, link_, group, join_state::non_member); }

    /// Only who speaks as a router is known to be one.
    void speaks() const { stage_.send(build::rip(node_, link_)); }
    /// The broadcast group, that of all hosts, and `others`.
    void reads_table(std::initializer_list<Gid> others) const {
        const auto& administrator = stage_.scene().administrator();
        std::vector<Bytes<McMemberRecord>> records{record(link_.broadcast_gid()), record(mgid(all_hosts))};
        for (const auto& group : others) records.push_back(record(group));
        const auto transaction = stage_.transaction();
        stage_.send(build::group_table_request(node_, administrator, transaction));
        stage_.send(build::group_table(administrator, node_, transaction, records));
        stage_.send(build::group_table_acknowledgement(node_, administrator, transaction));
    }
    /// Trap 66 or 67, forwarded by the administrator. RFC 4391, 11.
    void is_told(std::uint16_t number, const Gid& group) const {
        const auto& administrator = stage_.scene().administrator();
        auto report = build::group_report(administrator, node_, number, group);
        report.choose(Mad::transaction_id, stage_.transaction());
        stage_.send(report);
        stage_.send(report.choose(Lrh::dlid, administrator.lid)
                        .choose(Lrh::slid, node_.lid)
                        .choose(Mad::method, Method::report_resp));
    }

private:
    /// As somebody is told of a group who is not to know its members.
    [[nodiscard]] Bytes<McMemberRecord> record(const Gid& group) const {
        return build::group_record(node_, link_, group, stage_.scene().mlid(group), 0)
            .set(McMemberRecord::port_gid, {});
    }
    Stage& stage_;
    const build::Node& node_;
    const build::Link& link_;
};

}  // namespace

const Profile multicast_router{
    .name = "multicast-router",
    .what = "an IP multicast router follows the groups that hosts create and leave, and resolves the hosts",
    .impact = Impact::link,
    .no_fabric = "it tells what the subnet administrator reports",
    .prepare =
        [](Stage& stage) {
            bring_up(stage);
            const Router router{stage};
            const auto& net = stage.scene().net();
            for (std::size_t i = 1; i < net.hosts.size(); ++i)
                join(stage, net.host(i), net.link, router.mgid(all_hosts), join_state::full_member);
            router.reads_table({});
            router.joins(router.mgid(all_hosts));
        },
    .play =
        [](Stage& stage) {
            const Router router{stage};
            const auto& net = stage.scene().net();
            subscribe(stage, net.host(0));
            router.speaks();
            for (std::size_t i = 0; stage.goes_on(); ++i) {
                const auto& host = net.host(1 + i % (net.hosts.size() - 1));
                const auto group = router.mgid(stage.scene().group4(i));
                join(stage, host, net.link, group, join_state::full_member);
                router.is_told(trap::multicast_group_created, group);
                router.joins(group);
                router.reads_table({group});
                pass(stage, between_groups);
                stage.send(build::arp_request(net.host(0), host.ipv4, net.link));
                stage.send(build::arp_reply(host, net.host(0), net.link));
                leave(stage, host, net.link, group, join_state::full_member);
                router.is_told(trap::multicast_group_deleted, group);
                router.leaves(group);
            }
        },
};

}  // namespace ipoib::traffic
