// SPDX-License-Identifier: GPL-2.0-or-later
// A switch: forwards by its tables, and lets a subnet manager read and set it. IBTA Vol 1, 18.
#pragma once

#include "fabric/simulated/forwarding_tables.hpp"
#include "fabric/simulated/smp_frame.hpp"
#include "fabric/simulated/subnet.hpp"
#include "protocol/wire/port_info.hpp"

namespace ipoib::fabric::simulated {

/// The cable from a switch's port to an end node: frames go out on it.
class NodeCable {
public:
    virtual ~NodeCable() = default;
    /// Takes a frame that is at the other end of the cable at `arrival`.
    virtual void carry(const Frame& frame, Time arrival) = 0;
};

/// Takes frames at once and tells each cable when they are at its other end: a frame costs one event however many
/// switches it crosses. A unicast frame never leaves by the port it came in, so in a tree none goes round.
class Switch {
public:
    static constexpr unsigned fewest_ports = 4, most_ports = 254;
    Switch(std::uint64_t guid, unsigned ports, Duration hop, Subnet::Counters& counters);

    [[nodiscard]] std::uint64_t guid() const noexcept { return guid_; }
    [[nodiscard]] unsigned port_count() const noexcept { return static_cast<unsigned>(ports_.size()) - 1; }
    /// Cables two switches.
    static void join(Switch& upper, std::uint8_t upper_port, Switch& lower, std::uint8_t lower_port);
    /// Cables an end node: its link comes up to INIT. Null takes the link down.
    void attach(std::uint8_t port, NodeCable* cable);
    [[nodiscard]] wire::PortState state(std::uint8_t port) const { return ports_[port].state; }

    /// A whole frame (its length is that of LRH.PktLen) comes in.
    void take(const Frame& frame, std::uint8_t in_port, Time now);
    /// The end ports here that may send to a group; a frame for it from another is dropped.
    void set_senders(std::uint16_t mlid, const PortMask& senders) { tables_.set_senders(mlid, senders); }
    void forget_senders() { tables_.forget_senders(); }

private:
    struct Port {
        Switch* neighbour = nullptr;
        NodeCable* cable = nullptr;
        std::uint8_t neighbour_port = 0;
        wire::PortState state = wire::PortState::down;
        std::uint8_t neighbor_mtu = 0;

        [[nodiscard]] bool is_link_up() const noexcept { return state != wire::PortState::down; }
        [[nodiscard]] bool is_active() const noexcept { return state == wire::PortState::active; }
    };

    void send(const Frame& frame, const Port& port, Time now);
    void take_multicast(const Frame& frame, std::uint16_t mlid, std::uint8_t in_port, Time now);
    void take_management(const Frame& frame, std::uint16_t dlid, std::uint8_t in_port, Time now);
    void send_management(const Frame& frame, std::uint8_t port, Time now);
    void send_to_lid(SmpFrame& smp, std::uint16_t dlid, Time now);

    // The subnet management agent.
    void answer(SmpFrame& smp, std::uint8_t in_port, Time now);
    [[nodiscard]] std::uint16_t attribute(SmpFrame& smp, std::uint8_t in_port, bool is_set);
    [[nodiscard]] std::uint16_t table(std::uint16_t attribute, std::uint32_t modifier, wire::MutableOctets data,
                                      bool is_set);
    [[nodiscard]] std::uint16_t switch_info(wire::MutableOctets data, bool is_set);
    [[nodiscard]] std::uint16_t port_info(std::uint32_t port, wire::MutableOctets data, bool is_set);
    [[nodiscard]] std::uint16_t set_management_port(wire::View<wire::PortInfo> wanted);
    [[nodiscard]] std::uint16_t set_port(Port& port, wire::View<wire::PortInfo> wanted);
    void node_info(wire::MutableOctets data, std::uint8_t in_port) const;
    void show_port(std::uint8_t number, wire::MutableOctets data) const;
    [[nodiscard]] std::uint16_t lid() const noexcept { return management_[wire::PortInfo::lid]; }

    std::uint64_t guid_;
    Duration hop_;
    Subnet::Counters& counters_;
    std::vector<Port> ports_;  ///< port 0 is the switch itself
    ForwardingTables tables_;
    wire::Bytes<wire::PortInfo> management_;  ///< port 0
    wire::Bytes<SwitchInfo> info_;
    std::array<std::uint16_t, PKeyBlock::entries> p_keys_{};
};

}  // namespace ipoib::fabric::simulated
