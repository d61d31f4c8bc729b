// SPDX-License-Identifier: GPL-2.0-or-later
// A run's fabric inside this process: a subnet with the tester's adapters plugged in and brought up.
#include "fabric/simulated/fabric.hpp"

#include "fabric/simulated/change.hpp"

#include <deque>

namespace ipoib::fabric {
namespace {

constexpr Duration longest_bring_up = std::chrono::seconds{5};

HcaConfig tester_config(std::uint64_t guid, std::string description) {
    constexpr std::uint8_t mtu_4096 = 5;
    return {.port_guid = guid, .description = std::move(description), .mtu = mtu_4096};
}

SubnetConfig config_of(const SimulatedOptions& options) {
    SubnetConfig config{.seed = options.seed};
    config.sa.seed = options.seed;
    config.sa.behaviour = options.sa;
    return config;
}

constexpr Sender sender_of(NodeRole role) noexcept {
    switch (role) {
        case NodeRole::tester:
            return Sender::tester;
        case NodeRole::subnet_manager:
            return Sender::sa;
        case NodeRole::other:
            break;
    }
    return Sender::other;
}

}  // namespace

struct SimulatedFabric::State {
    explicit State(const SimulatedOptions& options)
        : loop(options.clock),
          subnet(loop, options.scenario ? *options.scenario : scenarios().front(), config_of(options)) {
        for (unsigned i = 0; i < options.tester_ports; ++i) {
            const auto guid = testers.emplace_back(tester_guid + i);
            auto& hca = hcas.emplace_back(loop, tester_config(guid, "ipoib tester " + std::to_string(i + 1)),
                                          options.tester_hca);
            ports.push_back(&node_ports.emplace_back(hca));
            subnet.plug(hca, NodeRole::tester);
        }
        for (const auto guid : testers) subnet.bring_up(guid, longest_bring_up);
    }

    std::vector<std::uint64_t> testers;
    Loop loop;
    Subnet subnet;
    std::deque<Hca> hcas;
    std::deque<NodePort> node_ports;
    std::vector<Port*> ports;
};

SimulatedFabric::SimulatedFabric(const SimulatedOptions& options) : state_(std::make_unique<State>(options)) {}
SimulatedFabric::~SimulatedFabric() = default;

Loop& SimulatedFabric::loop() { return state_->loop; }
Subnet& SimulatedFabric::subnet() noexcept { return state_->subnet; }
std::span<Port* const> SimulatedFabric::ports() { return state_->ports; }

Abilities SimulatedFabric::abilities() const {
    return Ability::any_frame | Ability::see_all | Ability::reports | Ability::fabric_control | Ability::two_ports |
           Ability::trusted_sa | Ability::long_tables;
}

std::vector<std::pair<std::string, std::string>> SimulatedFabric::facts() const {
    return {{"kind", "simulated"},
            {"clock", state_->loop.is_virtual() ? "virtual" : "real"},
            {"scenario", std::string(state_->subnet.scenario().name)}};
}

void SimulatedFabric::observe(std::function<void(const Sighting&)> observer) {
    if (!observer) return state_->subnet.watch(nullptr);
    state_->subnet.watch([observer = std::move(observer)](Time time, const Frame& frame, NodeRole role) {
        observer({time, frame.octets(), sender_of(role)});
    });
}

ChangeAnswer SimulatedFabric::change(const FabricChange& change, Duration) {
    return simulated::change(state_->subnet, change, state_->testers);
}

}  // namespace ipoib::fabric
