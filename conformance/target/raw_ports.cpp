// SPDX-License-Identifier: GPL-2.0-or-later
// From streams to nodes of a subnet.
#include "conformance/target/raw_ports.hpp"

#include <utility>

namespace ipoib::conformance {

RawPorts::RawPorts(fabric::Subnet& subnet, const std::string& path)
    : subnet_(subnet),
      listener_(subnet.loop(), path, [this](std::unique_ptr<fabric::RawPort> port) { plug(std::move(port)); }) {}

RawPorts::~RawPorts() {
    for (const auto& node : nodes_)
        if (node->jack) std::exchange(node->jack, nullptr)->unplug();
}

void RawPorts::plug(std::unique_ptr<fabric::RawPort> port) {
    auto& node = *nodes_.emplace_back(std::make_unique<Node>());
    node.port = std::move(port);
    node.jack = &subnet_.plug(*node.port, fabric::NodeRole::other);
    node.port->deliver_to(node.jack);
    node.port->on_closed([&node](const std::string&) {
        if (node.jack) std::exchange(node.jack, nullptr)->unplug();
    });
}

}  // namespace ipoib::conformance
