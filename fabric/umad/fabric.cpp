// SPDX-License-Identifier: GPL-2.0-or-later
// One port with libibumad, seen as a fabric.
#include "fabric/umad/fabric.hpp"

#include "fabric/socket/control_process.hpp"
#include "fabric/umad/port.hpp"
#include "protocol/wire/lrh.hpp"

#include <array>
#include <stdexcept>

namespace ipoib::fabric {
using namespace wire;

struct UmadFabric::State {
    explicit State(const UmadFabricOptions& options) : device(options.port), sm_key(options.sm_key) {
        port.set_sm_key(options.sm_key);
        gsi.tap = [this](const Frame& frame, bool is_sent) { see(frame, is_sent); };
    }
    void bring_up(Duration patience);
    void see(const Frame& frame, bool is_sent) {
        if (!observer) return;
        const bool is_sm = View<Lrh>::at(frame.octets())[Lrh::slid] == gsi.facts().sm_lid;
        observer({.time = loop.now(),
                  .octets = frame.octets(),
                  .sender = is_sent ? Sender::tester
                            : is_sm ? Sender::sa
                                    : Sender::other,
                  .is_rebuilt = true});
    }

    Loop loop{Loop::Clock::real};
    UmadDevice device;
    UmadGsi gsi{loop, device};
    UmadPort port{gsi};
    std::array<Port*, 1> ports{&port};
    std::uint64_t sm_key;
    std::string control_command;
    std::unique_ptr<ControlProcess> control;
    std::function<void(const Sighting&)> observer;
};

UmadFabric::UmadFabric(const UmadFabricOptions& options) : state_(std::make_unique<State>(options)) {
    auto& s = *state_;
    s.control_command = options.control;
    if (!options.control.empty()) s.control = std::make_unique<ControlProcess>(s.loop, options.control);
    s.bring_up(options.patience);
}
UmadFabric::~UmadFabric() = default;

void UmadFabric::State::bring_up(Duration patience) {
    constexpr Duration between_tries = std::chrono::milliseconds{300};
    const auto deadline = loop.now() + patience;
    const auto is_settled = [&] { return port.facts().is_active || !gsi.problem().empty(); };
    std::string why = "no subnet manager made it active";
    if (loop.run_until(is_settled, deadline)) why = port.learn_mtu(device.port_number(), between_tries);
    while (!why.empty() && port.facts().is_active && loop.now() < deadline && !Loop::stop_requested())
        why = port.learn_mtu(device.port_number(), between_tries);
    if (!why.empty()) throw std::runtime_error(device.name() + ": " + why);
}

Loop& UmadFabric::loop() { return state_->loop; }

Abilities UmadFabric::abilities() const {
    Abilities abilities;
    if (!state_->device.is_simulated()) abilities = abilities | Ability::long_tables;
    if (state_->device.hears_reports()) abilities = abilities | Ability::reports;
    if (state_->control) abilities = abilities | Ability::control;
    if (state_->sm_key != 0) abilities = abilities | Ability::trusted_sa;
    return abilities;
}

std::vector<std::pair<std::string, std::string>> UmadFabric::facts() const {
    std::vector<std::pair<std::string, std::string>> facts{
        {"kind", "umad"},
        {"clock", "real"},
        {"device", state_->device.name() + (state_->device.is_simulated() ? " (ibsim)" : "")},
        {"frames", "made from management datagrams"}};
    if (state_->control) facts.emplace_back("control", state_->control_command);
    return facts;
}

std::span<Port* const> UmadFabric::ports() { return state_->ports; }
void UmadFabric::observe(std::function<void(const Sighting&)> observer) { state_->observer = std::move(observer); }

std::string UmadFabric::control(const std::string& request) {
    if (state_->control) return state_->control->ask(request);
    return refusal(request, "unsupported", "no --fabric-control command is given");
}

std::string UmadFabric::problem() const { return state_->gsi.problem(); }

}  // namespace ipoib::fabric
