// SPDX-License-Identifier: GPL-2.0-or-later
#include "protocol/wire/igmp.hpp"
#include "traffic-gen/manager.hpp"
#include "traffic-gen/profiles/exchanges.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace ipoib::traffic {
using namespace wire;

namespace {

constexpr std::size_t most_ports = 16;
constexpr std::uint64_t assigned_prefix = 0xfec0000000000007;

/// The ports of a subnet, each with interfaces on every link of the scene, and several on one link.
class Ports {
public:
    explicit Ports(Stage& stage) : stage_(stage) {
        for (const auto& net : stage.scene().nets()) {
            auto& link = links_.emplace_back(Net{net.link, {}});
            for (std::size_t i = 0; i < std::min(net.hosts.size(), most_ports); ++i) add(link, net.hosts[i], i);
        }
    }

    void set_up() {
        for (const auto& host : parents()) {
            auto info = port_info_of(host, stage_.scene().administrator(), links_.front().link);
            info.set(PortInfo::gid_prefix, host.gid.prefix());
            manage(stage_, host, Method::set, smp_attribute::port_info, info, 1);
            set_p_keys(host);
        }
        for (const auto& link : links_)
            for (const auto& interface : link.hosts) enters(link.link, interface);
    }
    /// Two interfaces speak, whichever ports they are at.
    void speak() {
        const auto& net = links_[stage_.any(links_.size())];
        const auto first = stage_.any(net.hosts.size()), second = first + 1 + stage_.any(net.hosts.size() - 1);
        const auto &from = net.host(first), &to = net.host(second);
        resolve(stage_, net, first, second);
        const auto size = stage_.size();
        const auto request = build::echo_request(from, to, net.link, 1, size);
        // The GID of the default prefix is the port's as well. IBTA Vol 1, 4.1.1.
        stage_.send(stage_.any(2) == 0
                        ? request
                        : with_grh<Ipv4, Icmp>(by_default_gid(from), by_default_gid(to), net.link, request));
        stage_.send(build::echo_reply(to, from, net.link, 1, size));
        if (stage_.any(2) == 0) return;
        resolve6(stage_, net, first, second);
        stage_.send(build::echo_request6(from, to, net.link, 1, size));
    }
    /// Every interface of a host answers for all of the host's addresses. RFC 1122, 3.3.4.2.
    void answers_twice() {
        const auto& net = links_[stage_.any(links_.size())];
        const auto &host = net.host(stage_.any(net.hosts.size())), &asker = net.host(stage_.any(net.hosts.size()));
        if (host.gid == asker.gid) return;
        stage_.send(build::arp_request(asker, host.ipv4, net.link));
        std::vector<build::Node> own;
        std::ranges::copy_if(net.hosts, std::back_inserter(own), [&](const auto& one) { return one.gid == host.gid; });
        for (const auto& one : own) stage_.send(build::arp_reply(with_ip_of(one, host), asker, net.link));
        const auto& any = own[stage_.any(own.size())];
        stage_.send(build::udp(asker, with_ip_of(any, host), net.link, stage_.size()));
    }
    /// Two interfaces of one port listen to a group: when one of them has enough, the port stays in it.
    void listens_twice() {
        const auto& net = links_[stage_.any(links_.size())];
        const auto& one = net.hosts.front();
        const auto& other = *std::ranges::find_if(
            net.hosts, [&](const auto& node) { return node.gid == one.gid && node.qpn != one.qpn; });
        auto& scene = stage_.scene();
        const auto group = scene.group4(stage_.any(scene.groups()));
        const auto mgid = mgid_for_ipv4(group, net.link.p_key, net.link.scope);
        join(stage_, one, net.link, mgid, join_state::full_member);
        for (const auto& listener : {one, other})
            stage_.send(build::igmp(listener, igmp_type::report_v2, group, scene.mlid(mgid), net.link));
        constexpr std::uint32_t all_routers = 0xe0000002;
        const auto routers = mgid_for_ipv4(all_routers, net.link.p_key, net.link.scope);
        join(stage_, net.hosts.back(), net.link, routers, join_state::full_member);
        if (!join_to_send(stage_, one, net.link, routers)) return;
        stage_.send(build::igmp(one, igmp_type::leave, group, scene.mlid(routers), net.link));
    }
    /// A queue pair is used again, by another interface of its port, on another link.
    void goes_elsewhere() {
        const auto first = stage_.any(links_.size()), second = first + 1;
        auto &from = links_[first], &to = links_[second % links_.size()];
        auto& goes = from.hosts[stage_.any(from.hosts.size())];
        const auto comes = std::ranges::find(to.hosts, goes.gid, &build::Node::gid);
        if (links_.size() < 2 || comes == to.hosts.end()) return;
        std::swap(goes.qpn, comes->qpn);
        announce4(stage_, goes, from.link);
        announce4(stage_, *comes, to.link);
    }
    /// The manager reads the tables again; answers need not come in the order of questions.
    void read_tables() {
        const auto hosts = parents();
        const auto& host = hosts[stage_.any(hosts.size())];
        const auto tables = blocks();
        const auto& manager = stage_.scene().administrator();
        std::array<build::SmpHead, 2> heads;
        for (std::uint32_t i = 0; i < heads.size(); ++i) {
            heads[i] = {.method = Method::get,
                        .attribute = smp_attribute::p_key_table,
                        .transaction = stage_.transaction(),
                        .modifier = i};
            stage_.send(build::smp(manager, host, heads[i], OctetArray<64>{}));
        }
        const auto first = stage_.any(2);
        for (const auto i : {first, 1 - first}) {
            heads[i].method = Method::get_resp;
            stage_.send(build::smp(host, manager, heads[i], tables[i]));
        }
    }

private:
    /// One of each port.
    [[nodiscard]] std::vector<build::Node> parents() const {
        std::vector<build::Node> found;
        for (const auto& one : links_.front().hosts)
            if (std::ranges::find(found, one.gid, &build::Node::gid) == found.end()) found.push_back(one);
        return found;
    }
    void add(Net& link, const build::Node& host, std::size_t index) {
        constexpr std::size_t most_children = 6;
        const auto number = links_.size() - 1;
        auto parent = host;
        if (stage_.options().seed % 2 == 0) parent.gid = Gid::of(assigned_prefix, host.gid.interface_id());
        link.hosts.push_back(parent);
        const auto children = 1 + (index + stage_.options().seed) % most_children;
        for (std::size_t n = 0; n < children; ++n)
            link.hosts.push_back(child_of(parent, stage_.scene(), index * most_children + n, number));
    }
    /// The link's P_Keys are in the second block: the first is full of others.
    [[nodiscard]] std::array<OctetArray<64>, 2> blocks() const {
        constexpr std::uint16_t default_partition = 0xffff, others = 0xa000, own_block = 32;
        std::vector<std::uint16_t> first{default_partition}, second;
        while (first.size() < own_block) first.push_back(static_cast<std::uint16_t>(others + first.size()));
        for (const auto& link : links_) second.push_back(link.link.p_key);
        return {build::p_key_block(first), build::p_key_block(second)};
    }
    void set_p_keys(const build::Node& host) {
        const auto tables = blocks();
        for (const std::uint32_t i : {0u, 1u})
            manage(stage_, host, Method::set, smp_attribute::p_key_table, tables[i], i);
    }
    void enters(const build::Link& link, const build::Node& interface) {
        join(stage_, interface, link, link.broadcast_gid(), join_state::full_member);
        subscribe(stage_, interface);
        announce4(stage_, interface, link);
    }
    static build::Node by_default_gid(build::Node node) {
        constexpr std::uint64_t default_prefix = std::uint64_t{0xfe80} << 48;
        node.gid = Gid::of(default_prefix, node.gid.interface_id());
        return node;
    }

    Stage& stage_;
    std::vector<Net> links_;
};

}  // namespace

/// RFC 4391, 4 and 9.1.1; RFC 4392, 4.1.
const Profile many_interfaces{
    .name = "many-interfaces",
    .what = "ports with several interfaces on one link and on several, P_Keys beyond the first block of the table",
    .impact = Impact::fabric,
    .no_fabric = "it plays the subnet manager, and several interfaces at a port",
    .prepare = [](Stage&) {},
    .play =
        [](Stage& stage) {
            Ports ports{stage};
            ports.set_up();
            constexpr std::array what{&Ports::speak,         &Ports::speak,          &Ports::answers_twice,
                                      &Ports::listens_twice, &Ports::goes_elsewhere, &Ports::read_tables};
            while (stage.goes_on()) (ports.*what[stage.any(what.size())])();
        },
};

}  // namespace ipoib::traffic
