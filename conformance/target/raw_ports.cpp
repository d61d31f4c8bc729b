// SPDX-License-Identifier: GPL-2.0-or-later
// From streams to nodes of a subnet.
#include "conformance/target/raw_ports.hpp"

#include <algorithm>
#include <utility>

namespace ipoib::conformance {

RawPorts::RawPorts(fabric::Subnet& subnet, const std::string& path)
    : subnet_(subnet),
      listener_(subnet.loop(), path, [this](std::unique_ptr<fabric::RawPort> port) { plug(std::move(port)); }) {}

RawPorts::~RawPorts() {
    constexpr fabric::Duration farewell = std::chrono::seconds{1};
    for (const auto& node : nodes_) node->unplug();
    // Together: peers that do not read cannot make the end last longer by being many.
    const auto until = subnet_.loop().now() + farewell;
    for (const auto& node : nodes_) node->port->finish(until);
}

void RawPorts::Node::unplug() {
    if (!switch_port) return;
    switch_port->on_link({});
    std::exchange(switch_port, nullptr)->unplug();
}

void RawPorts::plug(std::unique_ptr<fabric::RawPort> port) {
    if (nodes_.size() >= most_peers) return;
    ++accepted_;
    auto& node = *nodes_.emplace_back(std::make_unique<Node>());
    node.port = std::move(port);
    node.switch_port = &subnet_.plug(*node.port, fabric::NodeRole::other);
    node.switch_port->on_link([&port = *node.port](bool is_up) {
        // That it is up again is seen by the next frame.
        if (!is_up) port.send_link_down();
    });
    node.port->deliver_to(node.switch_port);
    node.port->on_closed([this, &node](const std::string&) { forget(node); });
}

void RawPorts::forget(const Node& node) {
    const auto at = std::find_if(nodes_.begin(), nodes_.end(), [&node](const auto& one) { return one.get() == &node; });
    if (at != nodes_.end()) nodes_.erase(at);
}

}  // namespace ipoib::conformance
