// SPDX-License-Identifier: GPL-2.0-or-later
// The sweep through the switches, and what the manager knows of the ports. IBTA Vol 1, 14.4.
#include "fabric/simulated/subnet_manager.hpp"

#include <algorithm>

namespace ipoib::fabric::simulated {
using namespace wire;
namespace {

constexpr std::uint16_t default_full = 0xffff, default_limited = 0x7fff;

}  // namespace

SubnetManager::SubnetManager(Hca& hca, Loop& loop, const Scenario& scenario, Wiring& wiring)
    : hca_(hca), loop_(loop), wiring_(wiring), client_(hca, loop), scenario_(scenario) {}
SubnetManager::~SubnetManager() { loop_.cancel(sweep_); }

void SubnetManager::start(bool keeps_state) {
    stop();
    if (!keeps_state) {
        known_.clear();
        locations_.clear();
        occupants_.clear();
        routing_.forget_groups();
    }
    for (auto& port : known_) port.is_active = false;
    routing_.forget_places();
    wiring_.forget_senders();
    is_running_ = true;
    sm_lid_ = lid_for(hca_.config().port_guid);
    explore(*DirectedRoute{}.then(1), {Routing::none, 0});
}

void SubnetManager::stop() {
    is_running_ = false;
    client_.forget_all();
    loop_.cancel(sweep_);
    switches_.clear();
    dirty_.clear();
    in_flight_.clear();
    unfinished_ = 0;
    waiting_.clear();
    later_.clear();
}

void SubnetManager::later(std::function<void()> action) {
    later_.push_back(std::move(action));
    if (sweep_) return;
    sweep_ = loop_.after(sweep_interval, [this] {
        sweep_ = {};
        for (const auto& again : std::exchange(later_, {})) again();
    });
}

SmpRequest SubnetManager::to_switch(Index at, Method method, std::uint16_t attribute, std::uint32_t modifier) const {
    return {.route = switches_[at].route, .method = method, .attribute = attribute, .modifier = modifier};
}

/// Asks until there is an answer.
void SubnetManager::insist(const SmpRequest& request, std::function<void(const Answer&)> answered) {
    client_.ask(request, [this, request, answered = std::move(answered)](const Answer& answer) {
        if (answer) return answered(answer);
        later([this, request, answered] { insist(request, answered); });
    });
}

void SubnetManager::explore(const DirectedRoute& route, Place parent) {
    insist({.route = route, .attribute = smp_attribute::node_info}, [this, route, parent](const Answer& answer) {
        if (const auto info = attribute_of<NodeInfo>(answer)) found_switch(route, parent, info);
    });
}

void SubnetManager::found_switch(const DirectedRoute& route, Place parent, View<NodeInfo> info) {
    const auto guid = info[NodeInfo::node_guid];
    const bool is_known =
        std::any_of(switches_.begin(), switches_.end(), [guid](const auto& s) { return s.guid == guid; });
    if (info[NodeInfo::node_type] != NodeInfo::switch_node || is_known) return;
    const auto uplink = info[NodeInfo::local_port_num], ports = info[NodeInfo::num_ports];
    const auto index =
        routing_.add({.parent = parent.at, .parent_port = parent.port, .uplink = uplink, .ports = ports});
    switches_.push_back({.guid = guid, .route = route, .uplink = uplink, .ports = std::vector<EndPort>(ports + 1u)});
    routing_.place(lid_for(guid), index, 0);
    write_tables();
    set_up_switch(index);
    if (parent.at != Routing::none) {
        ++unfinished_;
        activate_link(parent, {index, uplink}, 0);
    }
    for (unsigned i = 1; i <= ports; ++i) {
        const Place place{index, static_cast<std::uint8_t>(i)};
        insist(to_switch(index, Method::get, smp_attribute::port_info, i), [this, place](const Answer& a) {
            if (const auto port = attribute_of<PortInfo>(a)) found_link(place, port[PortInfo::port_state]);
        });
    }
}

void SubnetManager::set_up_switch(Index index) {
    insist(to_switch(index, Method::get, smp_attribute::switch_info, 0), [this, index](const Answer& answer) {
        const auto found = attribute_of<SwitchInfo>(answer);
        if (!found) return;
        constexpr std::uint8_t one_second = 18;
        Bytes<SwitchInfo> info;
        std::copy_n(found.data(), SwitchInfo::size, info.octets.begin());
        info.set(SwitchInfo::linear_top, first_multicast_lid - 1).set(SwitchInfo::life_time, one_second);
        auto request = to_switch(index, Method::set, smp_attribute::switch_info, 0);
        std::copy(info.octets.begin(), info.octets.end(), request.data.begin());
        insist(request, [](const Answer&) {});
    });
    insist(to_switch(index, Method::get, smp_attribute::port_info, 0), [this, index](const Answer& answer) {
        const auto found = attribute_of<PortInfo>(answer);
        if (!found) return;
        auto request = to_switch(index, Method::set, smp_attribute::port_info, 0);
        Bytes<PortInfo> info;
        std::copy_n(found.data(), PortInfo::size, info.octets.begin());
        info.set(PortInfo::port_state, PortState::no_change)
            .set(PortInfo::lid, lid_for(switches_[index].guid))
            .set(PortInfo::master_sm_lid, sm_lid_);
        request.data = info.octets;
        insist(request, [](const Answer&) {});
    });
}

/// Both ends armed, then both active; a link that is active from before refuses, and stays so.
void SubnetManager::activate_link(Place upper, Place lower, unsigned done) {
    struct Stage {
        bool is_upper;
        PortState state;
    };
    static constexpr std::array<Stage, 4> stages{
        {{true, PortState::armed}, {false, PortState::armed}, {true, PortState::active}, {false, PortState::active}}};
    if (done == stages.size()) return finish();
    const auto& [is_upper, state] = stages[done];
    const auto& side = is_upper ? upper : lower;
    auto request = to_switch(side.at, Method::set, smp_attribute::port_info, side.port);
    constexpr std::uint8_t mtu_4096 = 5;
    request.data = Bytes<PortInfo>{}.set(PortInfo::port_state, state).set(PortInfo::neighbor_mtu, mtu_4096).octets;
    insist(request, [=, this](const Answer&) { activate_link(upper, lower, done + 1); });
}

void SubnetManager::found_link(Place place, PortState state) {
    const auto here = location_of(place);
    if (state == PortState::down) return vanish(here);
    if (wiring_.leads_to_switch(here)) {
        const bool is_uplink = place.at != 0 && place.port == switches_[place.at].uplink;
        const auto route = switches_[place.at].route.then(place.port);
        if (route && !is_uplink) explore(*route, place);
    } else if (end(place).phase == EndPort::Phase::empty) {
        begin(place);
    }
}

void SubnetManager::link_changed(const Location& at, bool is_up) {
    if (!is_running_) return;
    const auto found =
        std::find_if(switches_.begin(), switches_.end(), [&at](const auto& s) { return s.guid == at.switch_guid; });
    // One that the sweep has not come to yet is looked at when it does.
    if (found == switches_.end()) return;
    const Place place{static_cast<Index>(found - switches_.begin()), at.port};
    if (at.port == 0 || at.port >= found->ports.size()) return;
    auto& port = end(place);
    const auto turn = port.turn + 1;
    port = {};
    port.turn = turn;
    if (!is_up) return vanish(at);
    if (!wiring_.leads_to_switch(at)) return begin(place);
    if (const auto route = found->route.then(at.port)) explore(*route, place);
}

void SubnetManager::vanish(const Location& at) {
    const auto found = occupants_.find(at);
    if (found == occupants_.end()) return;
    const auto guid = found->second;
    occupants_.erase(found);
    locations_.erase(guid);
    const auto* port = by_guid(guid);
    if (!port) return;
    const auto gid = port->gid;
    const auto lid = port->lid;
    known_.erase(known_.begin() + (port - known_.data()));
    routing_.remove(lid);
    write_tables();
    wiring_.port_vanished(gid);
}

const KnownPort* SubnetManager::by_lid(std::uint16_t lid) const {
    const auto found = std::lower_bound(known_.begin(), known_.end(), lid,
                                        [](const KnownPort& port, std::uint16_t l) { return port.lid < l; });
    return found == known_.end() || found->lid != lid ? nullptr : &*found;
}
const KnownPort* SubnetManager::by_guid(std::uint64_t port_guid) const {
    const auto lid = lids_.find(port_guid);
    const auto* port = lid == lids_.end() ? nullptr : by_lid(lid->second);
    return port && port->port_guid == port_guid ? port : nullptr;
}
const KnownPort* SubnetManager::by_gid(const Gid& gid) const {
    const auto* port = by_guid(gid.interface_id());
    return port && port->gid == gid ? port : nullptr;
}
KnownPort* SubnetManager::known(std::uint64_t guid) {
    const auto* port = by_guid(guid);
    return port ? &known_[static_cast<std::size_t>(port - known_.data())] : nullptr;
}
std::optional<Location> SubnetManager::location(std::uint64_t port_guid) const {
    const auto found = locations_.find(port_guid);
    return found == locations_.end() ? std::nullopt : std::optional{found->second};
}

/// The same GUID gets the same LID again, as long as there are others for new ones; then those of ports that are gone
/// are given away. 0: all are in use.
std::uint16_t SubnetManager::lid_for(std::uint64_t guid) {
    if (const auto found = lids_.find(guid); found != lids_.end()) return found->second;
    if (last_lid_ + 1 < first_multicast_lid) return lids_[guid] = static_cast<std::uint16_t>(++last_lid_);
    const auto unused = std::find_if(lids_.begin(), lids_.end(), [this](const auto& given) {
        const bool is_switch =
            std::any_of(switches_.begin(), switches_.end(), [&given](const auto& s) { return s.guid == given.first; });
        return !is_switch && given.second != sm_lid_ && !locations_.contains(given.first);
    });
    if (unused == lids_.end()) return 0;
    const auto lid = unused->second;
    lids_.erase(unused);
    return lids_[guid] = lid;
}

void SubnetManager::route(std::uint16_t mlid, const Routes& routes) {
    routing_.route(mlid, routes);
    write_tables();
}

void SubnetManager::reroute(std::uint16_t mlid, std::uint16_t lid, const Routes& routes) {
    routing_.reroute(mlid, lid, routes);
    write_tables();
}

void SubnetManager::write_tables() {
    if (!is_running_) return;
    for (const auto& senders : routing_.take_senders())
        wiring_.set_senders(switches_[senders.at].guid, senders.mlid, senders.ports);
    for (const auto& block : routing_.take_changes()) {
        if (in_flight_.contains(block))
            dirty_.insert(block);
        else
            write(block);
    }
}

void SubnetManager::write(const Routing::Block& block) {
    in_flight_.insert(block);
    unfinished_ += block.attribute == smp_attribute::linear_forwarding_table;
    auto request = to_switch(block.at, Method::set, block.attribute, block.modifier);
    routing_.fill(block, request.data);
    insist(request, [this, block](const Answer&) { written(block); });
}

void SubnetManager::written(const Routing::Block& block) {
    in_flight_.erase(block);
    if (dirty_.erase(block) != 0) write(block);
    if (block.attribute == smp_attribute::linear_forwarding_table) finish();
}

void SubnetManager::set_scenario(const Scenario& scenario) {
    scenario_ = scenario;
    p_keys_.clear();
}

/// The link that is judged, the other partitions, and the default one, of which the manager's port is full member.
std::vector<std::uint16_t> SubnetManager::p_keys_for(std::uint64_t guid) const {
    if (const auto changed = p_keys_.find(guid); changed != p_keys_.end()) return changed->second;
    std::vector<std::uint16_t> table{scenario_.link.p_key};
    for (const auto& partition : scenario_.others) table.push_back(partition.p_key);
    if (std::find(table.begin(), table.end(), default_full) == table.end())
        table.push_back(guid == hca_.config().port_guid ? default_full : default_limited);
    return table;
}

std::size_t SubnetManager::room_for_p_keys(const KnownPort& port) {
    const auto cap = View<NodeInfo>::at(port.node_info)[NodeInfo::partition_cap];
    return std::min<std::size_t>(PKeyBlock::entries, cap);
}

bool SubnetManager::add_p_key(std::uint64_t port_guid, std::uint16_t p_key) {
    const auto* port = by_guid(port_guid);
    if (!port || (p_key & ~full_membership) == 0) return false;
    auto table = p_keys_for(port_guid);
    if (std::find(table.begin(), table.end(), p_key) != table.end()) return true;
    auto free = std::find(table.begin(), table.end(), 0);
    if (free == table.end()) {
        if (table.size() >= room_for_p_keys(*port)) return false;
        free = table.insert(table.end(), 0);
    }
    *free = p_key;
    set_p_keys(port_guid, std::move(table));
    return true;
}

/// The others keep their places in the table.
bool SubnetManager::remove_p_key(std::uint64_t port_guid, std::uint16_t p_key) {
    auto table = p_keys_for(port_guid);
    const auto found = std::find(table.begin(), table.end(), p_key);
    if (!by_guid(port_guid) || p_key == 0) return false;
    if (found == table.end()) return true;
    *found = 0;
    set_p_keys(port_guid, std::move(table));
    return true;
}

bool SubnetManager::move_p_key(std::uint64_t port_guid, std::uint16_t p_key, std::size_t index) {
    const auto* port = by_guid(port_guid);
    if (!port || (p_key & ~full_membership) == 0 || index >= room_for_p_keys(*port)) return false;
    auto table = p_keys_for(port_guid);
    auto found = std::find(table.begin(), table.end(), p_key);
    if (found == table.end()) found = table.insert(table.end(), p_key);
    const auto from = static_cast<std::size_t>(found - table.begin());
    table.resize(std::max(table.size(), index + 1));
    std::swap(table[from], table[index]);
    if (table.size() > room_for_p_keys(*port)) return false;
    set_p_keys(port_guid, std::move(table));
    return true;
}

void SubnetManager::restore_p_keys() {
    for (const auto& [guid, table] : std::exchange(p_keys_, {})) write_p_keys(guid);
}

bool SubnetManager::move_lid(std::uint64_t port_guid, std::uint16_t lid) {
    const auto at = location(port_guid);
    if (!is_running_ || !by_guid(port_guid) || !at || last_lid_ + 1 >= first_multicast_lid) return false;
    const auto has_it = [lid](const auto& entry) { return entry.second == lid; };
    if (lid != 0 && (lid >= first_multicast_lid || std::any_of(lids_.begin(), lids_.end(), has_it))) return false;
    link_changed(*at, false);
    lids_.erase(port_guid);
    if (lid != 0) lids_[port_guid] = lid;
    link_changed(*at, true);
    return true;
}

void SubnetManager::move_own_lid() {
    if (last_lid_ + 1 < first_multicast_lid) lids_.erase(hca_.config().port_guid);
}

void SubnetManager::set_p_keys(std::uint64_t port_guid, std::vector<std::uint16_t> table) {
    p_keys_[port_guid] = std::move(table);
    write_p_keys(port_guid);
}

void SubnetManager::write_p_keys(std::uint64_t port_guid) {
    const auto at = location(port_guid);
    const auto found = std::find_if(switches_.begin(), switches_.end(),
                                    [&at](const auto& s) { return at && s.guid == at->switch_guid; });
    if (!is_running_ || found == switches_.end()) return;
    const Place place{static_cast<Index>(found - switches_.begin()), at->port};
    client_.ask(p_key_table(place), [this, port_guid](const Answer& answer) {
        auto* port = known(port_guid);
        if (!port || !answer || answer[DirectedSmp::status] != 0) return;
        port->p_keys = p_keys_for(port_guid);
        std::erase(port->p_keys, 0);
    });
}

}  // namespace ipoib::fabric::simulated
