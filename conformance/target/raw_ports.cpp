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
        if (node->switch_port) std::exchange(node->switch_port, nullptr)->unplug();
}

void RawPorts::plug(std::unique_ptr<fabric::RawPort> port) {
    auto& node = *nodes_.emplace_back(std::make_unique<Node>());
    node.port = std::move(port);
    node.switch_port = &subnet_.plug(*node.port, fabric::NodeRole::other);
    node.port->deliver_to(node.switch_port);
    node.port->on_closed([&node](const std::string&) {
        if (node.switch_port) std::exchange(node.switch_port, nullptr)->unplug();
    });
}

}  // namespace ipoib::conformance
