// SPDX-License-Identifier: GPL-2.0-or-later
// A simulated fabric that nodes of other processes are plugged into. `--listen PATH`
#pragma once

#include "fabric/simulated/fabric.hpp"
#include "fabric/socket/unix_socket.hpp"

#include <memory>
#include <string>
#include <vector>

namespace ipoib::conformance {

/// Takes everybody who connects for a node. The subnet must live longer, and have a real clock.
class RawPorts {
public:
    /// Throws std::runtime_error when nothing can listen at this path.
    RawPorts(fabric::Subnet& subnet, const std::string& path);
    /// Unplugs them.
    ~RawPorts();
    RawPorts(const RawPorts&) = delete;
    RawPorts& operator=(const RawPorts&) = delete;

private:
    struct Node {
        std::unique_ptr<fabric::RawPort> port;
        fabric::SwitchPort* switch_port = nullptr;
    };
    void plug(std::unique_ptr<fabric::RawPort> port);

    fabric::Subnet& subnet_;
    std::vector<std::unique_ptr<Node>> nodes_;
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
