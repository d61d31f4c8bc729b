// SPDX-License-Identifier: GPL-2.0-or-later
// An edge port: the port of a switch that an end node is plugged into, and the cable between them.
#pragma once

#include "fabric/simulated/cable.hpp"
#include "fabric/simulated/switch.hpp"

namespace ipoib::fabric::simulated {

/// What all switch ports of a subnet share.
struct SubnetContext {
    Loop& loop;
    const SubnetConfig& config;
    Subnet::Counters& counters;
    std::function<void(Time, const Frame&, NodeRole)> watcher{};
};

class EdgePort final : public SwitchPort, public NodeCable {
public:
    /// `number`: of all edge ports, for the seeds of its faults.
    EdgePort(SubnetContext& context, Switch& at, std::uint8_t port, std::uint64_t number);
    ~EdgePort() override;

    [[nodiscard]] bool is_free() const noexcept { return node_ == nullptr; }
    [[nodiscard]] bool is_link_up() const noexcept { return is_up_; }
    [[nodiscard]] Switch& at() const noexcept { return switch_; }
    [[nodiscard]] std::uint8_t port() const noexcept { return port_; }
    /// Told when the link went up or down.
    std::function<void(bool is_up)> changed;

    void plug(FrameSink& node, NodeRole role, Hca* hca);
    /// As long as the node is plugged in.
    void set_link(bool is_up);

    void receive(const Frame& frame) override;
    void carry(const Frame& frame, Time arrival) override;
    void set_faults(const LinkFaults& faults) override;
    void on_link(std::function<void(bool is_up)> told) override { told_ = std::move(told); }
    void unplug() override;

private:
    /// The switch's end of a faulty cable.
    struct CableEnd final : FrameSink {
        explicit CableEnd(EdgePort& owner) : port(owner) {}
        void receive(const Frame& frame) override;
        EdgePort& port;
    };
    [[nodiscard]] bool is_whole(const Frame& frame) const noexcept;
    void drop_cable();

    SubnetContext& context_;
    Switch& switch_;
    const std::uint8_t port_;
    const std::uint64_t number_;
    FrameSink* node_ = nullptr;
    Hca* hca_ = nullptr;
    NodeRole role_ = NodeRole::other;
    bool is_up_ = false;
    std::function<void(bool)> told_;
    CableEnd cable_end_{*this};
    std::unique_ptr<CableDirection> to_switch_, to_node_;
};

}  // namespace ipoib::fabric::simulated
