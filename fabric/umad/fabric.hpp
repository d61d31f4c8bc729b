// SPDX-License-Identifier: GPL-2.0-or-later
// A real fabric by the management datagrams of one port: its SA can be asked, nothing else is carried. `--fabric umad:`
#pragma once

#include "fabric/umad/device.hpp"

namespace ipoib::fabric {

struct UmadFabricOptions {
    UmadOptions port{};
    std::uint64_t sm_key = 0;                      ///< with which the SA tells who is a member of a group; 0: not known
    std::string control{};                         ///< a command that changes the fabric; empty: nothing can
    Duration patience = std::chrono::seconds{10};  ///< for the port to be active and its SA to answer
};

class UmadFabric : public Fabric {
public:
    /// Returns when the port is active and the SA has answered. Throws std::invalid_argument when the options name no
    /// port, std::runtime_error when it cannot be used.
    explicit UmadFabric(const UmadFabricOptions& options);
    ~UmadFabric() override;

    [[nodiscard]] Loop& loop() override;
    [[nodiscard]] Abilities abilities() const override;
    [[nodiscard]] std::vector<std::pair<std::string, std::string>> facts() const override;
    [[nodiscard]] std::span<Port* const> ports() override;
    void observe(std::function<void(const Sighting&)> observer) override;
    using Fabric::change;
    [[nodiscard]] ChangeAnswer change(const FabricChange& change, Duration patience) override;

    [[nodiscard]] std::string problem() const override;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace ipoib::fabric
