// SPDX-License-Identifier: GPL-2.0-or-later
// A simulated fabric that nodes of other processes are plugged into. `--listen PATH`
#pragma once

#include "fabric/simulated/fabric.hpp"
#include "fabric/socket/unix_socket.hpp"

#include <memory>
#include <string>
#include <vector>

namespace ipoib::conformance {

/// Takes everybody who connects for a node, and keeps nothing of who has left. The subnet must live longer, and have a
/// real clock.
class RawPorts {
public:
    /// At a time; the connection of one more is closed at once. Each may hold 1 MiB that its peer has not read.
    static constexpr std::size_t most_peers = 256;

    /// Throws std::runtime_error when nothing can listen at this path.
    RawPorts(fabric::Subnet& subnet, const std::string& path);
    /// Unplugs them. What is on its way to them has a second to be read.
    ~RawPorts();
    RawPorts(const RawPorts&) = delete;
    RawPorts& operator=(const RawPorts&) = delete;

    /// Who is connected now, and how many were taken so far.
    [[nodiscard]] std::size_t peers() const noexcept { return nodes_.size(); }
    [[nodiscard]] std::uint64_t accepted() const noexcept { return accepted_; }

private:
    struct Node {
        ~Node() { unplug(); }
        void unplug();
        std::unique_ptr<fabric::RawPort> port;
        fabric::SwitchPort* switch_port = nullptr;
    };
    void plug(std::unique_ptr<fabric::RawPort> port);
    void forget(const Node& node);

    fabric::Subnet& subnet_;
    std::vector<std::unique_ptr<Node>> nodes_;
    std::uint64_t accepted_ = 0;
    fabric::RawPortListener listener_;
};

/// A simulated fabric with raw ports at a path, for as long as it is there. Its clock must be real.
class ListeningFabric : public fabric::SimulatedFabric {
public:
    /// Throws as RawPorts.
    ListeningFabric(const fabric::SimulatedOptions& options, const std::string& path)
        : SimulatedFabric(options), nodes_(subnet(), path) {}

private:
    RawPorts nodes_;
};

}  // namespace ipoib::conformance
