// SPDX-License-Identifier: GPL-2.0-or-later
// Ports of real HCAs, seen as a fabric.
#include "fabric/verbs/fabric.hpp"

#include "fabric/socket/control_process.hpp"

#include <algorithm>
#include <stdexcept>

namespace ipoib::fabric {

struct VerbsFabric::State {
    void bring_up(VerbsPort& port, Time deadline);

    Loop loop{Loop::Clock::real};
    std::vector<std::unique_ptr<VerbsPort>> owned;
    std::vector<Port*> ports;
    bool is_trusted = false;
    std::string control_command;
    std::unique_ptr<ControlProcess> control;
    std::function<void(const Sighting&)> observer;
};

VerbsFabric::VerbsFabric(const VerbsFabricOptions& options) : state_(std::make_unique<State>()) {
    auto& s = *state_;
    s.control_command = options.control;
    if (!options.control.empty()) s.control = std::make_unique<ControlProcess>(s.loop, options.control);
    const auto deadline = s.loop.now() + options.patience;
    for (const auto& one : options.ports) {
        auto& port = *s.owned.emplace_back(std::make_unique<VerbsPort>(s.loop, one));
        port.tap = [this](const Sighting& sighting) {
            if (state_->observer) state_->observer(sighting);
        };
        s.ports.push_back(&port);
        s.is_trusted = s.is_trusted || one.sm_key != 0;
    }
    for (const auto& port : s.owned) s.bring_up(*port, deadline);
}
VerbsFabric::~VerbsFabric() = default;

void VerbsFabric::State::bring_up(VerbsPort& port, Time deadline) {
    constexpr Duration between_tries = std::chrono::milliseconds{300};
    const auto is_settled = [&] { return port.facts().is_active || !port.problem().empty(); };
    std::string why = "no subnet manager made it active";
    if (loop.run_until(is_settled, deadline)) why = port.try_sa(between_tries);
    while (!why.empty() && port.facts().is_active && loop.now() < deadline && !Loop::stop_requested())
        why = port.try_sa(between_tries);
    if (!why.empty()) throw std::runtime_error(port.name() + ": " + why);
    port.open_queue_pair();
}

Loop& VerbsFabric::loop() { return state_->loop; }

Abilities VerbsFabric::abilities() const {
    auto abilities = Abilities{Ability::long_tables};
    if (state_->owned.front()->hears_reports()) abilities = abilities | Ability::reports;
    if (state_->owned.size() > 1) abilities = abilities | Ability::two_ports;
    if (state_->control) abilities = abilities | Ability::control;
    if (state_->is_trusted) abilities = abilities | Ability::trusted_sa;
    return abilities;
}

std::vector<std::pair<std::string, std::string>> VerbsFabric::facts() const {
    std::string devices;
    for (const auto& port : state_->owned) devices += (devices.empty() ? "" : ", ") + port->name();
    std::vector<std::pair<std::string, std::string>> facts{
        {"kind", "verbs"},
        {"clock", "real"},
        {"device", devices},
        {"frames", "those of others are rebuilt from completions and management datagrams"}};
    if (state_->control) facts.emplace_back("control", state_->control_command);
    return facts;
}

std::span<Port* const> VerbsFabric::ports() { return state_->ports; }
void VerbsFabric::observe(std::function<void(const Sighting&)> observer) { state_->observer = std::move(observer); }

std::string VerbsFabric::control(const std::string& request) {
    if (state_->control) return state_->control->ask(request);
    return refusal(request, "unsupported", "no --fabric-control command is given");
}

std::string VerbsFabric::problem() const {
    for (const auto& port : state_->owned)
        if (auto why = port->problem(); !why.empty()) return why;
    return {};
}

}  // namespace ipoib::fabric
