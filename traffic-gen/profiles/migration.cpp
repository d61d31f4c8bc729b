// SPDX-License-Identifier: GPL-2.0-or-later
#include "traffic-gen/manager.hpp"
#include "traffic-gen/profiles/exchanges.hpp"

#include <array>
#include <utility>

namespace ipoib::traffic {
using namespace wire;

namespace {

/// The hosts of the first link as they are now, and virtual machines on them.
class Cluster {
public:
    explicit Cluster(Stage& stage) : stage_(stage), net_(stage.scene().net()), next_qpn_(first_new_qpn) {
        const auto machines = 1 + stage.any(3);
        for (std::size_t i = 0; i < machines; ++i) {
            auto machine = stage.scene().other(i);
            place(machine, stage.any(net_.hosts.size()));
            machines_.push_back(machine);
        }
    }

    void comes_up() const {
        for (const auto& host : net_.hosts) enters(host);
        for (const auto& machine : machines_) enters(machine);
        // Each hears where the others are.
        for (const auto& host : net_.hosts) announce(host);
        for (const auto& machine : machines_) announce(machine);
    }
    /// A machine goes on at another port, under its GID: its function there has another queue pair.
    void migrates() {
        auto& machine = machines_[stage_.any(machines_.size())];
        const auto at = host_with(machine.lid), to = at + 1 + stage_.any(net_.hosts.size() - 1);
        // It may say that it goes; where it was stopped and carried away, it does not.
        if (stage_.any(2) == 0) leave_link(stage_, machine, net_.link);
        manage(stage_, net_.host(at), Method::set, smp_attribute::guid_info, guid_block(net_.host(at), {}));
        const auto before = machine;
        place(machine, to % net_.hosts.size());
        machine.qpn = next_qpn_++;
        manage(stage_, net_.host(to), Method::set, smp_attribute::guid_info,
               guid_block(net_.host(to), std::span{&machine, 1}));
        // Who has not heard of it yet still sends to where it was.
        stage_.send(build::udp(net_.host(to + 1), before, net_.link, stage_.size()));
        returns(machine);
    }
    /// An interface comes up anew with another queue pair, at the same port.
    void restarts() {
        auto& host = net_.hosts[stage_.any(net_.hosts.size())];
        leave_link(stage_, host, net_.link);
        host.qpn = next_qpn_++;
        returns(host);
    }
    /// An IP address goes from one host to another, as in a failover of keepalived or of bonded ports.
    void fails_over() {
        const auto first = stage_.any(net_.hosts.size()), second = first + 1 + stage_.any(net_.hosts.size() - 1);
        auto &from = net_.hosts[first], &to = net_.hosts[second % net_.hosts.size()];
        std::swap(from.ipv4, to.ipv4);
        announce4(stage_, to, net_.link);
        announce4(stage_, from, net_.link);
    }
    /// Two ports get each other's LID in a new sweep of the manager, and have to register anew.
    void swaps() {
        const auto first = stage_.any(net_.hosts.size()), second = first + 1 + stage_.any(net_.hosts.size() - 1);
        auto &one = net_.hosts[first], &two = net_.hosts[second % net_.hosts.size()];
        for (auto& machine : machines_)
            if (machine.lid == one.lid || machine.lid == two.lid)
                machine.lid = machine.lid == one.lid ? two.lid : one.lid;
        std::swap(one.lid, two.lid);
        for (const auto* host : {&one, &two}) sets_up(*host);
        for (const auto& node : at({one.lid, two.lid})) {
            stage_.forget_memberships(node.gid);
            enters(node);
        }
        for (const auto index : {first, second}) {
            const Net pair{net_.link, {net_.host(index + 1), net_.host(index)}};
            resolve(stage_, pair, 0, 1);
            ask_for_path(stage_, pair.host(0), pair.host(1), net_.link);
        }
    }
    void speak() const {
        const auto machine = stage_.any(machines_.size());
        const auto& to = machines_[machine];
        const auto number = stage_.any(net_.hosts.size());
        const auto &from = net_.host(number), &third = net_.host(number + 1);
        const Net pair{net_.link, {from, stage_.any(2) == 0 ? to : third}};
        if (stage_.any(2) == 0) resolve(stage_, pair, 0, 1);
        const auto size = stage_.size();
        stage_.send(build::echo_request(pair.host(0), pair.host(1), pair.link, 1, size));
        stage_.send(build::echo_reply(pair.host(1), pair.host(0), pair.link, 1, size));
        if (stage_.any(3) != 0) return;
        resolve6(stage_, pair, 0, 1);
        stage_.send(build::echo_request6(pair.host(0), pair.host(1), pair.link, 1, size));
    }

private:
    static constexpr std::uint32_t first_new_qpn = 0x300000;

    void place(build::Node& machine, std::size_t host) const { machine.lid = net_.host(host).lid; }
    [[nodiscard]] std::size_t host_with(std::uint16_t lid) const {
        std::size_t index = 0;
        while (net_.hosts[index].lid != lid) ++index;
        return index;
    }
    /// The hosts and machines at these LIDs.
    [[nodiscard]] std::vector<build::Node> at(std::array<std::uint16_t, 2> lids) const {
        std::vector<build::Node> found;
        for (const auto* nodes : {&net_.hosts, &machines_})
            for (const auto& node : *nodes)
                if (node.lid == lids[0] || node.lid == lids[1]) found.push_back(node);
        return found;
    }
    void enters(const build::Node& node) const {
        join(stage_, node, net_.link, net_.link.broadcast_gid(), join_state::full_member);
        subscribe(stage_, node);
        join_all_nodes(stage_, node, net_.link);
    }
    void announce(const build::Node& node) const {
        announce4(stage_, node, net_.link);
        announce6(stage_, node, net_.link);
    }
    /// It joins anew, whatever its port was a member of under its GID, and tells where it is.
    void returns(const build::Node& node) const {
        stage_.forget_memberships(node.gid);
        enters(node);
        announce(node);
    }
    void sets_up(const build::Node& host) const {
        constexpr std::uint64_t ports = 36, numbers = 0x2000;
        const auto number = host.gid.interface_id() % numbers;
        const std::array route{std::uint8_t{1}, static_cast<std::uint8_t>(1 + number / ports),
                               static_cast<std::uint8_t>(1 + number % ports)};
        auto info = port_info_of(host, stage_.scene().administrator(), net_.link);
        info.set(PortInfo::client_reregister, true);
        manage_by_route(stage_, route, Method::set, smp_attribute::port_info, info, 1);
    }

    Stage& stage_;
    Net net_;
    std::vector<build::Node> machines_;
    std::uint32_t next_qpn_;
};

}  // namespace

/// RFC 4391, 9.1.1 and 9.4: an interface keeps neither its LID nor its queue pair for ever.
const Profile migration{
    .name = "migration",
    .what = "virtual machines move between ports with their GIDs, interfaces restart, addresses fail over, LIDs change",
    .impact = Impact::fabric,
    .no_fabric = "it plays the subnet manager, and interfaces that move",
    .prepare = [](Stage&) {},
    .play =
        [](Stage& stage) {
            Cluster cluster{stage};
            cluster.comes_up();
            while (stage.goes_on()) {
                for (auto times = 2 + stage.any(6); times > 0; --times) cluster.speak();
                constexpr std::array what{&Cluster::migrates, &Cluster::restarts, &Cluster::fails_over,
                                          &Cluster::swaps};
                (cluster.*what[stage.any(what.size())])();
            }
        },
};

}  // namespace ipoib::traffic
