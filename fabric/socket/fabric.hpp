// SPDX-License-Identifier: GPL-2.0-or-later
// A fabric on the other side of raw ports: this process is one node of it for each path. `--fabric socket:PATH[,PATH]`
#pragma once

#include "fabric/node/node_port.hpp"

namespace ipoib::fabric {

struct SocketOptions {
    std::vector<std::string> paths;  ///< at least one, at most 63
    std::string tap{};               ///< every frame that a node sends, framed as on a raw port; empty: none
    std::uint64_t sm_key = 0;        ///< with which the SA tells who is a member of a group; 0: not known
    std::string control{};           ///< a command that changes the fabric; empty: nothing can
    std::string name{};              ///< what reports call the fabric, instead of its paths; empty: those are told
    std::uint64_t seed = 1;
    /// Port GUIDs, one for each path; those not given follow from path and seed. Two testers at one path need two.
    std::vector<std::uint64_t> guids{};
    Duration patience = std::chrono::seconds{10};  ///< for the subnet manager to make the ports active
    /// For somebody to listen at the paths: none, but for a fabric that is being started again.
    Duration connect_patience{};
};

class SocketFabric : public Fabric {
public:
    /// Connects, and returns when every port is active. Throws std::runtime_error: no fabric listens, no subnet manager
    /// comes, the control command does not start.
    explicit SocketFabric(const SocketOptions& options);
    ~SocketFabric() override;

    [[nodiscard]] Loop& loop() override;
    [[nodiscard]] Abilities abilities() const override;
    [[nodiscard]] std::vector<std::pair<std::string, std::string>> facts() const override;
    [[nodiscard]] std::span<Port* const> ports() override;
    void observe(std::function<void(const Sighting&)> observer) override;
    using Fabric::change;
    [[nodiscard]] ChangeAnswer change(const FabricChange& change, Duration patience) override;

    /// Of a port, or of the tap, with its path.
    [[nodiscard]] std::string problem() const override;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace ipoib::fabric
