// SPDX-License-Identifier: GPL-2.0-or-later
// A subnet manager: finds switches and ports, gives LIDs and P_Keys, writes the tables, brings ports up. IBTA Vol
// 1, 14.
#pragma once

#include "fabric/simulated/routing.hpp"
#include "fabric/simulated/smp_client.hpp"
#include "protocol/wire/node_record.hpp"
#include "protocol/wire/port_info.hpp"

namespace ipoib::fabric::simulated {

/// A port of a switch.
struct Location {
    std::uint64_t switch_guid = 0;
    std::uint8_t port = 0;
    friend auto operator<=>(const Location&, const Location&) = default;
};

/// What the manager asks of, and tells, the subnet around it beside SMPs.
class Wiring {
public:
    virtual ~Wiring() = default;
    /// Whether another switch of the subnet is at the other end: a node that only says that it is one is left alone.
    [[nodiscard]] virtual bool leads_to_switch(const Location& from) const = 0;
    /// The end ports that may send to a group. No attribute of IBTA says it: real switches forward for all.
    virtual void set_senders(std::uint64_t switch_guid, std::uint16_t mlid, const PortMask& senders) = 0;
    virtual void forget_senders() = 0;
    virtual void port_vanished(const wire::Gid& gid) = 0;
};

/// Works when something happens, by no clock but for what was left alone: that is tried again after a while.
class SubnetManager final : public SubnetView {
public:
    static constexpr Duration sweep_interval = std::chrono::seconds{10};

    SubnetManager(Hca& hca, Loop& loop, const Scenario& scenario, Wiring& wiring);
    ~SubnetManager() override;
    SubnetManager(const SubnetManager&) = delete;
    SubnetManager& operator=(const SubnetManager&) = delete;

    /// Sweeps the subnet. Ports that are active from before are asked to reregister.
    void start(bool keeps_state);
    void stop();
    [[nodiscard]] bool is_running() const noexcept { return is_running_; }
    /// Stands for trap 128 of the switch.
    void link_changed(const Location& at, bool is_up);
    /// For ports that come up from now on.
    void set_scenario(const Scenario& scenario);
    /// False for a port that is not known, or a full table. What is as it should be already is left.
    bool add_p_key(std::uint64_t port_guid, std::uint16_t p_key);
    bool remove_p_key(std::uint64_t port_guid, std::uint16_t p_key);
    bool move_p_key(std::uint64_t port_guid, std::uint16_t p_key, std::size_t index);
    void restore_p_keys();
    /// A port gets this LID, or for 0 one that nobody had before: its memberships end, and it is asked to reregister.
    /// False for a port that is not known, and for a LID that another has or can have.
    bool move_lid(std::uint64_t port_guid, std::uint16_t lid);
    /// Its own port gets a LID that nobody had before when it starts, if there is one left.
    void move_own_lid();
    /// For ports that are set up from now on.
    void set_prefix(std::uint64_t prefix) noexcept { prefix_ = prefix; }

    [[nodiscard]] const KnownPort* by_guid(std::uint64_t port_guid) const;
    /// Where a port is plugged in.
    [[nodiscard]] std::optional<Location> location(std::uint64_t port_guid) const;

    [[nodiscard]] const std::vector<KnownPort>& ports() const override { return known_; }
    [[nodiscard]] const KnownPort* by_lid(std::uint16_t lid) const override;
    [[nodiscard]] const KnownPort* by_gid(const wire::Gid& gid) const override;
    void route(std::uint16_t mlid, const Routes& routes) override;
    void reroute(std::uint16_t mlid, std::uint16_t lid, const Routes& routes) override;

private:
    using Index = Routing::Index;
    using Answer = wire::View<wire::DirectedSmp>;
    /// An end port on its way to ACTIVE.
    struct EndPort {
        enum class Phase : std::uint8_t { empty, working, left_alone, active };
        Phase phase = Phase::empty;
        std::uint8_t step = 0, local_port = 1, mtu = 0;
        std::uint32_t turn = 0;  ///< answers to an earlier turn are old
        std::uint16_t lid = 0;
        wire::Bytes<wire::NodeInfo> node;
        wire::Bytes<wire::PortInfo> near, far;  ///< the switch's end of the link and the node's
        std::string description;
        [[nodiscard]] std::uint64_t guid() const noexcept { return node[wire::NodeInfo::port_guid]; }
    };
    struct ManagedSwitch {
        std::uint64_t guid = 0;
        DirectedRoute route;
        std::uint8_t uplink = 0;  ///< the port towards the manager
        std::vector<EndPort> ports;
    };
    struct Place {
        Index at = 0;
        std::uint8_t port = 0;
    };
    /// The steps of an end port: port_set_up.cpp.
    struct Step;
    static const std::span<const Step> steps;

    // Switches.
    void explore(const DirectedRoute& route, Place parent);
    void found_switch(const DirectedRoute& route, Place parent, wire::View<wire::NodeInfo> info);
    void set_up_switch(Index index);
    void activate_link(Place upper, Place lower, unsigned done);
    void found_link(Place place, wire::PortState state);
    [[nodiscard]] SmpRequest to_switch(Index at, wire::Method method, std::uint16_t attribute,
                                       std::uint32_t modifier) const;
    void insist(const SmpRequest& request, std::function<void(const Answer&)> answered);
    void later(std::function<void()> action);

    // End ports.
    void begin(Place place);
    void advance(Place place);
    void answered(Place place, std::uint32_t turn, const Answer& answer);
    void leave_alone(Place place);
    void finish();
    [[nodiscard]] SmpRequest to_port(Place place, wire::Method method, std::uint16_t attribute) const;
    [[nodiscard]] SmpRequest set_state(Place place, bool is_far, wire::PortState state) const;
    bool learn_node(Place place, const Answer& answer);
    [[nodiscard]] bool is_ours_elsewhere(std::uint64_t guid, Place place) const;
    bool learn_port(Place place, const Answer& answer);
    bool learn_far(Place place, const Answer& answer);
    bool learn_near(Place place, const Answer& answer);
    bool learn_end(Place place, const Answer& answer);
    void remember(Place place);
    void vanish(const Location& at);

    // Tables.
    void write_tables();
    void write(const Routing::Block& block);
    void written(const Routing::Block& block);
    [[nodiscard]] std::uint16_t lid_for(std::uint64_t guid);
    [[nodiscard]] std::vector<std::uint16_t> p_keys_for(std::uint64_t guid) const;
    [[nodiscard]] SmpRequest p_key_table(Place place) const;
    void set_p_keys(std::uint64_t port_guid, std::vector<std::uint16_t> table);
    void write_p_keys(std::uint64_t port_guid);
    [[nodiscard]] static std::size_t room_for_p_keys(const KnownPort& port);

    [[nodiscard]] EndPort& end(Place place) { return switches_[place.at].ports[place.port]; }
    [[nodiscard]] const EndPort& end(Place place) const { return switches_[place.at].ports[place.port]; }
    [[nodiscard]] Location location_of(Place place) const { return {switches_[place.at].guid, place.port}; }
    [[nodiscard]] KnownPort* known(std::uint64_t guid);

    Hca& hca_;
    Loop& loop_;
    Wiring& wiring_;
    SmpClient client_;
    Scenario scenario_;
    Routing routing_;
    bool is_running_ = false;
    std::uint16_t sm_lid_ = 0;
    std::uint64_t prefix_ = wire::default_subnet_prefix;
    std::vector<ManagedSwitch> switches_;
    std::vector<KnownPort> known_;                 ///< by LID
    std::map<std::uint64_t, std::uint16_t> lids_;  ///< of every GUID that there ever was
    std::size_t last_lid_ = 0;
    std::map<std::uint64_t, Location> locations_;                 ///< of the ports that are there
    std::map<Location, std::uint64_t> occupants_;                 ///< the same, the other way
    std::map<std::uint64_t, std::vector<std::uint16_t>> p_keys_;  ///< tables that were changed by hand
    std::set<Routing::Block> dirty_, in_flight_;
    std::size_t unfinished_ = 0;  ///< blocks of linear tables and links between switches; end ports wait for them
    struct Waiting {
        Place place;
        std::uint32_t turn = 0;
    };
    std::vector<Waiting> waiting_;
    std::vector<std::function<void()>> later_;
    TimerId sweep_;
};

}  // namespace ipoib::fabric::simulated
