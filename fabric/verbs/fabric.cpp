// SPDX-License-Identifier: GPL-2.0-or-later
// Ports of real HCAs, seen as a fabric.
#include "fabric/verbs/fabric.hpp"

#include "fabric/socket/fabric_control.hpp"
#include "fabric/socket/sightings.hpp"
#include "protocol/wire/lrh.hpp"

#include <algorithm>

namespace ipoib::fabric {
using namespace wire;

struct VerbsFabric::State {
    explicit State(const VerbsFabricOptions& given) : options(given), control(loop, given.control) {
        for (const auto& one : options.ports) {
            const auto place = static_cast<unsigned>(ports.size());
            auto& port = *owned.emplace_back(std::make_unique<VerbsPort>(loop, one));
            port.tap = [this, place](const Sighting& sighting) { see(sighting, place); };
            ports.push_back(&port);
        }
    }
    void see(const Sighting& sighting, unsigned place);

    VerbsFabricOptions options;
    Loop loop{Loop::Clock::real};
    FabricControl control;
    std::vector<std::unique_ptr<VerbsPort>> owned;
    std::vector<Port*> ports;
    std::function<void(const Sighting&)> observer;
    Sightings sightings;
};

VerbsFabric::VerbsFabric(const VerbsFabricOptions& options) : state_(std::make_unique<State>(options)) {
    const auto deadline = state_->loop.now() + options.patience;
    for (const auto& port : state_->owned) port->bring_up(deadline);
}
VerbsFabric::~VerbsFabric() = default;

/// A frame between two of the tester's ports is seen when it is sent, one that both receive once.
void VerbsFabric::State::see(const Sighting& sighting, unsigned place) {
    if (!observer) return;
    const bool is_received = sighting.sender != Sender::tester;
    if (is_received && ports.size() > 1) {
        const auto slid = View<Lrh>::at(sighting.octets)[Lrh::slid];
        const bool is_own = std::ranges::any_of(ports, [&](const Port* port) { return port->facts().lid == slid; });
        // The SM may be on a port of the tester: its MADs are those of the SA all the same.
        if (is_own && sighting.sender == Sender::other) return;
        if (!sightings.is_new(Frame{sighting.octets}, place)) return;
    }
    observer(sighting);
}

Loop& VerbsFabric::loop() { return state_->loop; }

Abilities VerbsFabric::abilities_with(const VerbsFabricOptions& options) {
    auto abilities = Ability::long_tables | Ability::reports;
    if (options.ports.size() > 1) abilities = abilities | Ability::two_ports;
    if (!options.control.empty()) abilities = abilities | Ability::fabric_control;
    if (std::ranges::any_of(options.ports, [](const auto& port) { return port.sm_key != 0; }))
        abilities = abilities | Ability::trusted_sa;
    return abilities;
}

Abilities VerbsFabric::abilities() const {
    const auto abilities = abilities_with(state_->options);
    // Another program of this host may be the one who gets them.
    return state_->owned.front()->hears_reports() ? abilities : abilities.without(Ability::reports);
}

std::vector<std::pair<std::string, std::string>> VerbsFabric::facts() const {
    std::string devices;
    for (const auto& port : state_->owned) devices += (devices.empty() ? "" : ", ") + port->name();
    std::vector<std::pair<std::string, std::string>> facts{
        {"kind", "verbs"},
        {"clock", "real"},
        {"device", devices},
        {"frames", "those of others are rebuilt from completions and management datagrams"}};
    if (state_->control) facts.emplace_back("control", state_->control.command());
    return facts;
}

std::span<Port* const> VerbsFabric::ports() { return state_->ports; }
void VerbsFabric::observe(std::function<void(const Sighting&)> observer) { state_->observer = std::move(observer); }

ChangeAnswer VerbsFabric::change(const FabricChange& change, Duration patience) {
    return state_->control.change(change, patience);
}

std::string VerbsFabric::problem() const {
    for (const auto& port : state_->owned)
        if (auto why = port->problem(); !why.empty()) return why;
    return {};
}

}  // namespace ipoib::fabric
