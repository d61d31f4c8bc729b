// SPDX-License-Identifier: GPL-2.0-or-later
#include "traffic-gen/manager.hpp"
#include "traffic-gen/profiles/exchanges.hpp"

#include <algorithm>
#include <array>

namespace ipoib::traffic {
using namespace wire;

namespace {

using C = McMemberRecord::component;

/// A link whose groups an administrator has made, by the manager's own port, before anybody came.
class Managed {
public:
    Managed(Stage& stage, std::size_t number) : stage_(stage), number_(number) {}

    void comes_up() {
        for (const auto& host : net().hosts) enters(host);
    }
    /// One host listens to a group, another one sends to it, with what the group's record says.
    void send() {
        const auto first = stage_.any(net().hosts.size()), second = first + 1 + stage_.any(net().hosts.size() - 1);
        const auto number = stage_.any(stage_.scene().groups());
        const auto mgid = mgid_of_group(number);
        joins(net().host(second), mgid, number, join_state::full_member);
        joins(net().host(first), mgid, number, join_state::send_only_non_member);
        send_to(net().host(first), number);
    }
    /// A port gives up one of the states that it has joined in, and goes on in the other.
    void leaves_one_state() {
        const auto& host = net().host(stage_.any(net().hosts.size()));
        const auto number = stage_.any(stage_.scene().groups());
        const auto mgid = mgid_of_group(number);
        joins(host, mgid, number, join_state::send_only_non_member);
        joins(host, mgid, number, join_state::full_member);
        const bool stays_full = stage_.any(2) == 0;
        leaves(host, mgid, number, stays_full ? join_state::send_only_non_member : join_state::full_member);
        for (unsigned i = 0; i < 3; ++i) send_to(host, number);
    }
    void speak() {
        const auto first = stage_.any(net().hosts.size()), second = first + 1 + stage_.any(net().hosts.size() - 1);
        resolve(stage_, net(), first, second);
        stage_.send(build::udp(net().host(first), net().host(second), net().link, stage_.size()));
    }
    /// The manager has come up anew and forgotten all: every port registers again, and groups have other MLIDs.
    void registers_again() {
        for (const auto& host : net().hosts) enters(host);
    }

private:
    static constexpr std::size_t most_octets = 900;  ///< of payload: the administrator's groups have an MTU of 1024

    [[nodiscard]] const Net& net() const { return stage_.scene().nets()[number_]; }
    [[nodiscard]] std::uint8_t sl_of(std::size_t group) const {
        constexpr std::size_t levels = 15;
        return static_cast<std::uint8_t>((net().link.sl + 1 + group + stage_.options().seed) % levels);
    }
    [[nodiscard]] Gid mgid_of_group(std::size_t number) const {
        return mgid_for_ipv4(stage_.scene().group4(number), net().link.p_key, net().link.scope);
    }
    void send_to(const build::Node& host, std::size_t number) {
        auto packet =
            build::udp_to_group(host, stage_.scene().group4(number), stage_.scene().mlid(mgid_of_group(number)),
                                net().link, std::min<std::size_t>(stage_.size(), most_octets));
        stage_.send(packet.choose(Lrh::sl, sl_of(number)));
    }
    /// As the administrator has made it: SL, rate and MTU of its own, all else as the broadcast group has it.
    [[nodiscard]] Bytes<McMemberRecord> record(const build::Node& host, const Gid& mgid, std::size_t number,
                                               std::uint8_t state) const {
        constexpr std::uint8_t mtu_1024 = 3, slow = 2, lifetime = 18;
        auto record = build::group_record(host, net().link, mgid, stage_.scene().mlid(mgid), state);
        record.set(McMemberRecord::lifetime, lifetime);
        if (is_broadcast_gid(mgid)) return record;
        return record.set(McMemberRecord::sl, sl_of(number))
            .set(McMemberRecord::mtu, mtu_1024)
            .set(McMemberRecord::rate, slow);
    }
    void enters(const build::Node& host) {
        joins(host, net().link.broadcast_gid(), 0, join_state::full_member);
        subscribe(stage_, host);
    }
    /// With the components that name the group and the port, and conditions on others: none of which creates a group.
    void joins(const build::Node& host, const Gid& mgid, std::size_t number, std::uint8_t state) {
        auto& states = stage_.membership(host.gid, mgid);
        if ((states & state) == state) return;
        states |= state;
        const auto granted = record(host, mgid, number, state);
        constexpr std::uint8_t mtu_512 = 2, hundreds = 16;
        auto asked = Bytes<McMemberRecord>{}
                         .set(McMemberRecord::mgid, mgid)
                         .set(McMemberRecord::port_gid, host.gid)
                         .set(McMemberRecord::p_key, net().link.p_key)
                         .set(McMemberRecord::join_state, state);
        auto components = C::join | C::p_key;
        if (stage_.any(2) == 0) {
            asked.set(McMemberRecord::mtu_selector, selector::greater).set(McMemberRecord::mtu, mtu_512);
            components |= C::mtu_selector | C::mtu;
        }
        if (stage_.any(2) == 0) {
            asked.set(McMemberRecord::rate_selector, selector::less).set(McMemberRecord::rate, hundreds);
            components |= C::rate_selector | C::rate;
        }
        change(host, Method::set, asked, components, granted);
    }
    void leaves(const build::Node& host, const Gid& mgid, std::size_t number, std::uint8_t state) {
        auto& states = stage_.membership(host.gid, mgid);
        states &= static_cast<std::uint8_t>(~state);
        const auto left = record(host, mgid, number, state);
        change(host, Method::del, left, C::join, left);
    }
    void change(const build::Node& host, Method method, const Bytes<McMemberRecord>& asked, std::uint64_t components,
                const Bytes<McMemberRecord>& granted) {
        ask(stage_, host,
            Question<McMemberRecord>{
                .method = method, .attribute = attribute::mc_member_record, .asked = asked, .components = components},
            std::span{&granted, 1});
    }

    Stage& stage_;
    std::size_t number_;
};

/// Of all links: the manager says so to each port, which has a life on every link.
void restart(Stage& stage, std::vector<Managed>& links) {
    const auto& net = stage.scene().net();
    for (const auto& host : net.hosts) {
        auto info = port_info_of(host, stage.scene().administrator(), net.link);
        manage(stage, host, Method::set, smp_attribute::port_info, info.set(PortInfo::client_reregister, true), 1);
    }
    stage.forget_memberships();
    stage.scene().forget_mlids();
    for (auto& link : links) link.registers_again();
}

}  // namespace

/// RFC 4391, 5 and 10; RFC 4392, 1.3.
const Profile administrators_groups{
    .name = "administrators-groups",
    .what =
        "groups that an administrator has made with an SL, rate and MTU of their own; joins with conditions, restarts",
    .impact = Impact::fabric,
    .no_fabric = "it plays the subnet administrator",
    .prepare = [](Stage&) {},
    .play =
        [](Stage& stage) {
            std::vector<Managed> links;
            for (std::size_t i = 0; i < stage.scene().nets().size(); ++i) links.emplace_back(stage, i).comes_up();
            constexpr std::array what{&Managed::send, &Managed::send, &Managed::leaves_one_state, &Managed::speak};
            constexpr std::size_t life = 40;
            while (stage.goes_on()) {
                if (stage.any(life) == 0) restart(stage, links);
                (links[stage.any(links.size())].*what[stage.any(what.size())])();
            }
        },
};

}  // namespace ipoib::traffic
