// SPDX-License-Identifier: GPL-2.0-or-later
// A real fabric by one port or two of this host's HCAs. `--fabric verbs:`
#pragma once

#include "fabric/verbs/port.hpp"

namespace ipoib::fabric {

struct VerbsFabricOptions {
    std::vector<VerbsPortOptions> ports{};         ///< one or two
    std::string control{};                         ///< a command that changes the fabric; empty: nothing can
    Duration patience = std::chrono::seconds{10};  ///< for the ports to be active and the SA to answer
};

class VerbsFabric : public Fabric {
public:
    /// Returns when the ports are active and the SA has answered. Throws std::invalid_argument when the options name no
    /// port, std::runtime_error when it cannot be used.
    explicit VerbsFabric(const VerbsFabricOptions& options);
    ~VerbsFabric() override;

    /// What can be done there, as far as the options tell it: the ports need not be there.
    [[nodiscard]] static Abilities abilities_with(const VerbsFabricOptions& options);

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
