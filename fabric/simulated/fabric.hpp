// SPDX-License-Identifier: GPL-2.0-or-later
// The simulated subnet as a Fabric: everything seen, everything controllable.
#pragma once

#include "fabric/node/node_port.hpp"
#include "fabric/simulated/subnet.hpp"

namespace ipoib::fabric {

struct SimulatedOptions {
    const Scenario* scenario = nullptr;  ///< null: default
    std::uint64_t seed = 1;
    SaBehaviour sa{};
    HcaBehaviour tester_hca{};
    Loop::Clock clock = Loop::Clock::virtual_time;
    unsigned tester_ports = 2;
};

/// Node GUIDs of this fabric begin with this; a port GUID is a universal EUI-64. The tester's ports count on.
inline constexpr std::uint64_t tester_guid = 0x0002c90300aa0001, second_tester_guid = tester_guid + 1,
                               sm_guid = 0x0002c90300ff0001;

class SimulatedFabric : public Fabric {
public:
    explicit SimulatedFabric(const SimulatedOptions& options);
    ~SimulatedFabric() override;

    [[nodiscard]] Loop& loop() override;
    [[nodiscard]] Abilities abilities() const override;
    [[nodiscard]] std::vector<std::pair<std::string, std::string>> facts() const override;
    [[nodiscard]] std::span<Port* const> ports() override;
    void observe(std::function<void(const Sighting&)> observer) override;
    using Fabric::change;
    [[nodiscard]] ChangeAnswer change(const FabricChange& change, Duration patience) override;

    [[nodiscard]] Subnet& subnet() noexcept;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace ipoib::fabric
