// SPDX-License-Identifier: GPL-2.0-or-later
// A simulated subnet: switches as a tree, a subnet manager, a subnet administrator, and the nodes plugged into it.
#pragma once

#include "fabric/change/link_faults.hpp"
#include "fabric/simulated/subnet_administrator.hpp"

namespace ipoib::fabric {

struct SubnetConfig {
    std::uint64_t seed = 1;
    Duration hop = std::chrono::nanoseconds{500};  ///< from port to port over a cable
    unsigned ports_per_switch = 36;                ///< 4 to 254; more nodes make a tree of switches
    bool may_see_sa_port = true;  ///< whether watch() tells of the frames that the manager's port sends
    SaConfig sa{};
};

/// The port of a switch that a node is plugged into.
class SwitchPort : public FrameSink {
public:
    /// Frames from the node.
    void receive(const Frame& frame) override = 0;
    virtual void set_faults(const LinkFaults& faults) = 0;
    /// Told when the switch's end of the link goes down or comes up again; adapters are told by themselves.
    virtual void on_link(std::function<void(bool is_up)> told) = 0;
    /// Cable out; the manager notices.
    virtual void unplug() = 0;
};

/// Who is plugged in, for whoever watches.
enum class NodeRole : std::uint8_t { subnet_manager, tester, other };

/// Frames cross all switches between two nodes in one event of the loop. Multicast is strict: the first switch drops
/// what comes from a port that the administrator did not let into the group, where a real one looks only at its own
/// mask.
class Subnet {
public:
    Subnet(Loop& loop, const Scenario& scenario, SubnetConfig config);
    ~Subnet();
    Subnet(const Subnet&) = delete;
    Subnet& operator=(const Subnet&) = delete;

    /// Plugs a node in: frames for it go to `node`, frames from it into the switch port that is returned. The manager
    /// brings it up by directed-route SMPs as the loop runs. The port lives until unplug() or the end of the subnet;
    /// the node must live until unplug(), or until the loop runs no more.
    SwitchPort& plug(FrameSink& node, NodeRole role);
    /// Plugs an adapter in both ways.
    SwitchPort& plug(Hca& hca, NodeRole role);

    /// Runs the loop until the port with this GUID is active or the deadline came.
    bool bring_up(std::uint64_t port_guid, Duration patience);

    [[nodiscard]] Loop& loop() noexcept;
    [[nodiscard]] const Scenario& scenario() const noexcept;
    [[nodiscard]] SubnetAdministrator& sa() noexcept;
    [[nodiscard]] SubnetView& view() noexcept;
    [[nodiscard]] Hca& sm_hca() noexcept;

    /// Stops manager and administrator (nothing answers), and starts them again with or without what they knew; after
    /// a start every port is asked to reregister (PortInfo.ClientReregister).
    void stop_manager();
    void start_manager(bool keeps_state = false);
    /// Adds or removes a P_Key of a port's table, by port GUID; the port hears of it.
    bool add_p_key(std::uint64_t port_guid, std::uint16_t p_key);
    bool remove_p_key(std::uint64_t port_guid, std::uint16_t p_key);
    /// It stands at this index from now on; what stood there where it was, or behind all others.
    bool move_p_key(std::uint64_t port_guid, std::uint16_t p_key, std::size_t index);
    /// All tables are again as the scenario has them.
    void restore_p_keys();
    /// Gives a port another LID, by port GUID, as a sweep does that finds its LID twice; 0: one that nobody had before.
    bool move_lid(std::uint64_t port_guid, std::uint16_t lid = 0);
    /// Another manager takes over: at a LID that nobody had before, and it knows nothing.
    void let_another_take_over();
    /// Manager and administrator start anew and know nothing; ports get this prefix.
    void set_prefix(std::uint64_t prefix);
    /// Takes a port's link down or up, by port GUID, as `ibportstate` would.
    bool set_link(std::uint64_t port_guid, bool is_up);
    /// Faults of a port's cable, by port GUID; false for a port that is not there.
    bool set_faults(std::uint64_t port_guid, const LinkFaults& faults);
    /// Replaces the link's parameters: broadcast group, P_Key tables, everything is set up anew (`scenario` must be one
    /// of scenarios()).
    void change_scenario(const Scenario& scenario);

    /// Told of each frame once, when a node sends it into its switch port (the subnet manager's port included), with
    /// the role of the sender. Empty: nobody watches.
    void watch(std::function<void(Time, const Frame&, NodeRole)> watcher);

    struct Counters {
        std::uint64_t forwarded = 0;  ///< data frames on their way: a unicast to its node, a multicast to its tree
        std::uint64_t multicast_copies = 0;  ///< of multicast frames, each to one node
        std::uint64_t dropped_no_route = 0;  ///< also: a group that the sender never joined, a port not active
        std::uint64_t dropped_fault = 0;     ///< lost by LinkFaults
        std::uint64_t malformed = 0;         ///< wrong length, unknown version, an SMP with an impossible route
    };
    [[nodiscard]] const Counters& counters() const noexcept;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace ipoib::fabric
