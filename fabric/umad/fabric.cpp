// SPDX-License-Identifier: GPL-2.0-or-later
// One port with libibumad, seen as a fabric.
#include "fabric/umad/fabric.hpp"

#include "fabric/socket/fabric_control.hpp"
#include "fabric/umad/managed_port.hpp"

#include <array>

namespace ipoib::fabric {

struct UmadFabric::State {
    explicit State(const UmadFabricOptions& options)
        : port(loop, options.port, options.sm_key), is_trusted(options.sm_key != 0), control(loop, options.control) {
        port.tap = [this](const Sighting& sighting) {
            if (observer) observer(sighting);
        };
    }

    Loop loop{Loop::Clock::real};
    ManagedPort port;
    std::array<Port*, 1> ports{&port.port()};
    bool is_trusted;
    FabricControl control;
    std::function<void(const Sighting&)> observer;
};

UmadFabric::UmadFabric(const UmadFabricOptions& options) : state_(std::make_unique<State>(options)) {
    state_->port.bring_up(state_->loop.now() + options.patience);
}
UmadFabric::~UmadFabric() = default;

Loop& UmadFabric::loop() { return state_->loop; }

Abilities UmadFabric::abilities() const {
    Abilities abilities;
    const auto& device = state_->port.device();
    if (!device.is_simulated()) abilities = abilities | Ability::long_tables;
    if (device.hears_reports()) abilities = abilities | Ability::reports;
    if (state_->control) abilities = abilities | Ability::fabric_control;
    if (state_->is_trusted) abilities = abilities | Ability::trusted_sa;
    return abilities;
}

std::vector<std::pair<std::string, std::string>> UmadFabric::facts() const {
    const auto& device = state_->port.device();
    std::vector<std::pair<std::string, std::string>> facts{
        {"kind", "umad"},
        {"clock", "real"},
        {"device", device.name() + (device.is_simulated() ? " (ibsim)" : "")},
        {"frames", "rebuilt from management datagrams"}};
    if (state_->control) facts.emplace_back("control", state_->control.command());
    return facts;
}

std::span<Port* const> UmadFabric::ports() { return state_->ports; }
void UmadFabric::observe(std::function<void(const Sighting&)> observer) { state_->observer = std::move(observer); }
ChangeAnswer UmadFabric::change(const FabricChange& change, Duration patience) {
    return state_->control.change(change, patience);
}
std::string UmadFabric::problem() const { return state_->port.problem(); }

}  // namespace ipoib::fabric
