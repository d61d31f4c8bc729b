// SPDX-License-Identifier: GPL-2.0-or-later
// A subnet put together: switches, the manager's adapter with manager and administrator on it, nodes.
#include "fabric/simulated/subnet.hpp"

#include "fabric/simulated/fabric.hpp"
#include "fabric/simulated/subnet_manager.hpp"
#include "fabric/simulated/topology.hpp"

namespace ipoib::fabric {
using namespace simulated;

struct Subnet::State final : Wiring {
    State(Loop& on, const Scenario& with, SubnetConfig how);

    [[nodiscard]] bool leads_to_switch(const Location& from) const override {
        return topology.find(from.switch_guid) && !topology.edge_port(from.switch_guid, from.port);
    }
    void set_senders(std::uint64_t switch_guid, std::uint16_t mlid, const PortMask& senders) override {
        if (auto* at = topology.find(switch_guid)) at->set_senders(mlid, senders);
    }
    void forget_senders() override {
        topology.for_each_switch([](Switch& at) { at.forget_senders(); });
    }
    void port_vanished(const wire::Gid& gid) override { administrator.port_vanished(gid); }

    void create_broadcast_groups();
    [[nodiscard]] EdgePort* edge_port_of(std::uint64_t port_guid);
    /// For a node that is new there.
    [[nodiscard]] EdgePort& free_edge_port();

    Loop& loop;
    Scenario scenario;
    const SubnetConfig config;
    Counters counters;
    SubnetContext context{loop, config, counters};
    Topology topology{context};
    Hca hca;
    SubnetManager manager;
    SubnetAdministrator administrator;
    EdgePort* manager_port = nullptr;
    std::map<std::uint64_t, EdgePort*> taken_down;  ///< by set_link; the manager has forgotten where they are
};

Subnet::State::State(Loop& on, const Scenario& with, SubnetConfig how)
    : loop(on),
      scenario(with),
      config(how),
      hca(on, {.port_guid = sm_guid, .description = "ipoib-conform SM", .mtu = 5, .is_sm = true}),
      manager(hca, on, with, *this),
      administrator(hca, manager, how.sa) {
    topology.cabled = [this](std::uint64_t guid, std::uint8_t port) { manager.link_changed({guid, port}, true); };
    topology.link_changed = [this](std::uint64_t guid, std::uint8_t port, bool is_up) {
        manager.link_changed({guid, port}, is_up);
    };
    manager_port = &topology.free_edge_port();
    manager_port->plug(hca, NodeRole::subnet_manager, &hca);
    create_broadcast_groups();
    manager.start(false);
}

void Subnet::State::create_broadcast_groups() {
    if (scenario.link.has_broadcast_group) administrator.create_broadcast_group(scenario.link);
    for (const auto* partitions : {&scenario.others, &scenario.of_others})
        for (const auto& partition : *partitions)
            if (partition.has_broadcast_group) administrator.create_broadcast_group(partition);
}

EdgePort* Subnet::State::edge_port_of(std::uint64_t port_guid) {
    if (const auto down = taken_down.find(port_guid); down != taken_down.end()) return down->second;
    const auto at = manager.location(port_guid);
    return at ? topology.edge_port(at->switch_guid, at->port) : nullptr;
}

EdgePort& Subnet::State::free_edge_port() {
    auto& port = topology.free_edge_port();
    // Whoever was there before left with its link down.
    std::erase_if(taken_down, [&port](const auto& entry) { return entry.second == &port; });
    return port;
}

Subnet::Subnet(Loop& loop, const Scenario& scenario, SubnetConfig config)
    : state_(std::make_unique<State>(loop, scenario, config)) {}
Subnet::~Subnet() = default;

SwitchPort& Subnet::plug(FrameSink& node, NodeRole role) {
    auto& port = state_->free_edge_port();
    port.plug(node, role, nullptr);
    return port;
}
SwitchPort& Subnet::plug(Hca& hca, NodeRole role) {
    auto& port = state_->free_edge_port();
    port.plug(hca, role, &hca);
    return port;
}

bool Subnet::bring_up(std::uint64_t port_guid, Duration patience) {
    const auto is_up = [&] {
        const auto* port = state_->manager.by_guid(port_guid);
        return state_->manager.is_running() && port && port->is_active;
    };
    return state_->loop.run_until(is_up, state_->loop.now() + patience);
}

Loop& Subnet::loop() noexcept { return state_->loop; }
const Scenario& Subnet::scenario() const noexcept { return state_->scenario; }
SubnetAdministrator& Subnet::sa() noexcept { return state_->administrator; }
SubnetView& Subnet::view() noexcept { return state_->manager; }
Hca& Subnet::sm_hca() noexcept { return state_->hca; }
const Subnet::Counters& Subnet::counters() const noexcept { return state_->counters; }

bool Subnet::move_lid(std::uint64_t port_guid, std::uint16_t lid) { return state_->manager.move_lid(port_guid, lid); }

void Subnet::set_prefix(std::uint64_t prefix) {
    stop_manager();
    state_->manager.set_prefix(prefix);
    start_manager();
}

void Subnet::stop_manager() {
    state_->manager.stop();
    state_->manager_port->set_link(false);
}

void Subnet::let_another_take_over() {
    stop_manager();
    state_->manager.move_own_lid();
    start_manager();
}

void Subnet::start_manager(bool keeps_state) {
    auto& s = *state_;
    stop_manager();
    if (!keeps_state) s.administrator.forget_all();
    s.manager_port->set_link(true);
    s.manager.start(keeps_state);
    if (!keeps_state) s.create_broadcast_groups();
}

bool Subnet::add_p_key(std::uint64_t port_guid, std::uint16_t p_key) {
    return state_->manager.add_p_key(port_guid, p_key);
}
bool Subnet::remove_p_key(std::uint64_t port_guid, std::uint16_t p_key) {
    return state_->manager.remove_p_key(port_guid, p_key);
}
bool Subnet::move_p_key(std::uint64_t port_guid, std::uint16_t p_key, std::size_t index) {
    return state_->manager.move_p_key(port_guid, p_key, index);
}
void Subnet::restore_p_keys() { state_->manager.restore_p_keys(); }

bool Subnet::set_link(std::uint64_t port_guid, bool is_up) {
    auto* port = state_->edge_port_of(port_guid);
    if (!port || port->is_free()) return false;
    if (is_up)
        state_->taken_down.erase(port_guid);
    else
        state_->taken_down[port_guid] = port;
    port->set_link(is_up);
    return true;
}

bool Subnet::set_faults(std::uint64_t port_guid, const LinkFaults& faults) {
    auto* port = state_->edge_port_of(port_guid);
    if (!port || port->is_free()) return false;
    port->set_faults(faults);
    return true;
}

void Subnet::change_scenario(const Scenario& scenario) {
    auto& s = *state_;
    const bool is_running = s.manager.is_running();
    s.manager.stop();
    s.administrator.forget_all();
    s.scenario = scenario;
    s.manager.set_scenario(scenario);
    s.taken_down.clear();
    // Every link goes down and up again, so that ports and nodes begin anew.
    s.topology.for_each_edge_port([](EdgePort& port) { port.set_link(false); });
    s.topology.for_each_edge_port([&](EdgePort& port) { port.set_link(is_running || &port != s.manager_port); });
    if (is_running) s.manager.start(false);
    s.create_broadcast_groups();
}

void Subnet::watch(std::function<void(Time, const Frame&, NodeRole)> watcher) {
    state_->context.watcher = std::move(watcher);
}

}  // namespace ipoib::fabric
