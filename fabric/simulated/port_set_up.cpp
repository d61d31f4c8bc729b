// SPDX-License-Identifier: GPL-2.0-or-later
// How an end port is brought up, step by step. IBTA Vol 1, 14.4.
#include "fabric/simulated/link_rate.hpp"
#include "fabric/simulated/subnet_manager.hpp"

#include <algorithm>

namespace ipoib::fabric::simulated {
using namespace wire;

/// One SMP and what is learned from its answer. A step without a request waits until the tables are written.
struct SubnetManager::Step {
    SmpRequest (*request)(const SubnetManager&, Place);
    /// False: the port is left alone. Called for refusals as well.
    bool (*learn)(SubnetManager&, Place, const Answer&);
    bool (*is_due)(const EndPort&) = [](const EndPort&) { return true; };
};

namespace {

template <class End>
bool near_is_down_from(const End& end, PortState state) {
    return end.near[PortInfo::port_state] < state;
}
template <class End>
bool far_is_down_from(const End& end, PortState state) {
    return end.far[PortInfo::port_state] < state;
}

}  // namespace

const std::span<const SubnetManager::Step> SubnetManager::steps = [] {
    using M = SubnetManager;
    static const Step all[]{
        {.request = [](const M& m, Place p) { return m.to_port(p, Method::get, smp_attribute::node_info); },
         .learn = [](M& m, Place p, const Answer& a) { return m.learn_node(p, a); }},
        {.request = [](const M& m, Place p) { return m.to_port(p, Method::get, smp_attribute::node_description); },
         .learn =
             [](M& m, Place p, const Answer& a) {
                 const auto text = a[DirectedSmp::data];
                 m.end(p).description.assign(text.begin(), std::find(text.begin(), text.end(), 0));
                 return true;
             }},
        // The port's GID is that of NodeInfo's PortGUID, the first of this table.
        {.request = [](const M& m, Place p) { return m.to_port(p, Method::get, smp_attribute::guid_info); },
         .learn = [](M&, Place, const Answer&) { return true; }},
        {.request = [](const M& m,
                       Place p) { return m.to_switch(p.at, Method::get, smp_attribute::port_info, p.port); },
         .learn = [](M& m, Place p, const Answer& a) { return m.learn_near(p, a); }},
        {.request = [](const M& m, Place p) { return m.to_port(p, Method::get, smp_attribute::port_info); },
         .learn = [](M& m, Place p, const Answer& a) { return m.learn_port(p, a); }},
        {.request = [](const M& m, Place p) { return m.p_key_table(p); },
         .learn = [](M&, Place, const Answer& a) { return a[DirectedSmp::status] == 0; }},
        {.request = [](const M& m, Place p) { return m.set_state(p, false, PortState::no_change); },
         .learn = [](M& m, Place p, const Answer& a) { return m.learn_near(p, a); }},
        {.request = [](const M& m, Place p) { return m.set_state(p, true, PortState::no_change); },
         .learn = [](M& m, Place p, const Answer& a) { return m.learn_far(p, a); }},
        {.request = nullptr, .learn = nullptr},
        {.request = [](const M& m, Place p) { return m.set_state(p, false, PortState::armed); },
         .learn = [](M& m, Place p, const Answer& a) { return m.learn_near(p, a); },
         .is_due = [](const EndPort& end) { return near_is_down_from(end, PortState::armed); }},
        {.request = [](const M& m, Place p) { return m.set_state(p, true, PortState::armed); },
         .learn = [](M& m, Place p, const Answer& a) { return m.learn_far(p, a); },
         .is_due = [](const EndPort& end) { return far_is_down_from(end, PortState::armed); }},
        {.request = [](const M& m, Place p) { return m.set_state(p, false, PortState::active); },
         .learn = [](M& m, Place p, const Answer& a) { return m.learn_near(p, a); },
         .is_due = [](const EndPort& end) { return near_is_down_from(end, PortState::active); }},
        {.request = [](const M& m, Place p) { return m.set_state(p, true, PortState::active); },
         .learn = [](M& m, Place p, const Answer& a) { return m.learn_end(p, a); },
         .is_due = [](const EndPort& end) { return far_is_down_from(end, PortState::active); }},
    };
    return std::span<const Step>{all};
}();

void SubnetManager::begin(Place place) {
    auto& port = end(place);
    const auto turn = port.turn + 1;
    port = {};
    port.turn = turn;
    port.phase = EndPort::Phase::working;
    advance(place);
}

void SubnetManager::advance(Place place) {
    for (auto& port = end(place); port.step < steps.size(); ++port.step) {
        const auto& step = steps[port.step];
        if (!step.request) {
            if (unfinished_ == 0) continue;
            waiting_.push_back({place, port.turn});
            return;
        }
        if (!step.is_due(port)) continue;
        client_.ask(step.request(*this, place),
                    [this, place, turn = port.turn](const Answer& answer) { answered(place, turn, answer); });
        return;
    }
    end(place).phase = EndPort::Phase::active;
    if (auto* port = known(end(place).guid())) port->is_active = true;
}

void SubnetManager::answered(Place place, std::uint32_t turn, const Answer& answer) {
    auto& port = end(place);
    if (port.turn != turn || port.phase != EndPort::Phase::working) return;
    if (!answer || !steps[port.step].learn(*this, place, answer)) return leave_alone(place);
    ++port.step;
    advance(place);
}

/// One of those that ports wait for.
void SubnetManager::finish() {
    if (--unfinished_ != 0) return;
    for (const auto& [place, turn] : std::exchange(waiting_, {})) {
        auto& port = end(place);
        if (port.turn != turn || port.phase != EndPort::Phase::working) continue;
        advance(place);
    }
}

/// Until the next sweep; whoever was there before is gone.
void SubnetManager::leave_alone(Place place) {
    auto& port = end(place);
    port.phase = EndPort::Phase::left_alone;
    later([this, place, turn = port.turn] {
        if (end(place).turn == turn && end(place).phase == EndPort::Phase::left_alone) begin(place);
    });
    vanish(location_of(place));
}

SmpRequest SubnetManager::to_port(Place place, Method method, std::uint16_t attribute) const {
    const auto& at = switches_[place.at];
    SmpRequest request{.route = at.route.then(place.port).value_or(at.route), .method = method, .attribute = attribute};
    if (attribute == smp_attribute::port_info) request.modifier = end(place).local_port;
    return request;
}

/// Set(PortInfo) of one end of the link: what is to be as it is stays as the port told it.
SmpRequest SubnetManager::set_state(Place place, bool is_far, PortState state) const {
    const auto& port = end(place);
    auto info = is_far ? port.far : port.near;
    info.set(PortInfo::port_state, state)
        .set(PortInfo::port_physical_state, 0)
        .set(PortInfo::link_down_default_state, 0)
        .set(PortInfo::link_width_enabled, 0)
        .set(PortInfo::link_speed_enabled, 0)
        .set(PortInfo::link_speed_ext_enabled, 0)
        .set(PortInfo::neighbor_mtu, port.mtu);
    if (is_far) {
        // An active port was brought up by a manager before this one, whose groups are gone.
        const bool is_old = state == PortState::no_change && port.far[PortInfo::port_state] == PortState::active;
        constexpr std::uint8_t one_second = 18;
        info.set(PortInfo::gid_prefix, prefix_)
            .set(PortInfo::lid, port.lid)
            .set(PortInfo::lmc, 0)
            .set(PortInfo::master_sm_lid, sm_lid_)
            .set(PortInfo::master_sm_sl, 0)
            .set(PortInfo::operational_vls, 1)
            .set(PortInfo::subnet_timeout, one_second)
            .set(PortInfo::client_reregister, is_old);
    }
    auto request = is_far ? to_port(place, Method::set, smp_attribute::port_info)
                          : to_switch(place.at, Method::set, smp_attribute::port_info, place.port);
    request.data = info.octets;
    return request;
}

bool SubnetManager::learn_node(Place place, const Answer& answer) {
    const auto info = attribute_of<NodeInfo>(answer);
    if (!info || info[NodeInfo::node_type] == NodeInfo::switch_node || info[NodeInfo::port_guid] == 0) return false;
    auto& port = end(place);
    std::copy_n(info.data(), NodeInfo::size, port.node.octets.begin());
    port.local_port = info[NodeInfo::local_port_num];
    if (is_ours_elsewhere(port.guid(), place)) return false;

    const auto here = location_of(place);
    const auto elsewhere = locations_.find(port.guid());
    if (elsewhere != locations_.end() && elsewhere->second != here) {
        // Moved, unless this sweep has met the same GUID there as well.
        for (const auto& other : switches_)
            if (other.guid == elsewhere->second.switch_guid) {
                const auto& there = other.ports[elsewhere->second.port];
                if (there.guid() == port.guid() && there.phase != EndPort::Phase::left_alone) return false;
            }
        occupants_.erase(elsewhere->second);
    }
    const auto before = occupants_.find(here);
    if (before != occupants_.end() && before->second != port.guid()) vanish(here);
    occupants_[here] = port.guid();
    locations_[port.guid()] = here;
    return true;
}

/// Whether a GUID belongs to the manager's own port or to a switch, and so to nobody at this place.
bool SubnetManager::is_ours_elsewhere(std::uint64_t guid, Place place) const {
    const bool is_own_place = place.at == 0 && place.port == switches_[0].uplink;
    if (guid == hca_.config().port_guid) return !is_own_place;
    return std::any_of(switches_.begin(), switches_.end(), [guid](const auto& s) { return s.guid == guid; });
}

bool SubnetManager::learn_near(Place place, const Answer& answer) {
    const auto info = attribute_of<PortInfo>(answer);
    if (!info) return false;
    std::copy_n(info.data(), PortInfo::size, end(place).near.octets.begin());
    return true;
}

bool SubnetManager::learn_far(Place place, const Answer& answer) {
    const auto info = attribute_of<PortInfo>(answer);
    if (!info || info[PortInfo::lid] != end(place).lid) return false;
    std::copy_n(info.data(), PortInfo::size, end(place).far.octets.begin());
    remember(place);
    return true;
}

bool SubnetManager::learn_end(Place place, const Answer& answer) {
    return learn_far(place, answer) && end(place).far[PortInfo::port_state] == PortState::active;
}

/// The node's PortInfo as it was found: now its LID is chosen, and the way to it.
bool SubnetManager::learn_port(Place place, const Answer& answer) {
    const auto info = attribute_of<PortInfo>(answer);
    auto& port = end(place);
    if (!info || info[PortInfo::mtu_cap] == 0 || info[PortInfo::port_state] < PortState::initialize) return false;
    std::copy_n(info.data(), PortInfo::size, port.far.octets.begin());
    port.mtu = std::min({scenario_.port_mtu, info[PortInfo::mtu_cap], port.near[PortInfo::mtu_cap]});
    port.lid = lid_for(port.guid());
    if (port.lid == 0) return false;
    routing_.place(port.lid, place.at, place.port);
    write_tables();
    return true;
}

/// Before it is active: its first request to the administrator may come at once.
void SubnetManager::remember(Place place) {
    const auto& from = end(place);
    const auto guid = from.guid();
    auto* port = known(guid);
    if (!port) {
        const auto after = std::lower_bound(known_.begin(), known_.end(), from.lid,
                                            [](const KnownPort& p, std::uint16_t lid) { return p.lid < lid; });
        port = &*known_.insert(after, KnownPort{});
    }
    port->gid = Gid::of(from.far[PortInfo::gid_prefix], guid);
    port->node_guid = from.node[NodeInfo::node_guid];
    port->port_guid = guid;
    port->lid = from.lid;
    port->mtu = from.far[PortInfo::neighbor_mtu];
    port->rate = rate_of(from.far.view());
    port->port_number = from.local_port;
    port->p_keys = p_keys_for(guid);
    std::erase(port->p_keys, 0);
    port->description = from.description;
    port->node_info.assign(from.node.octets.begin(), from.node.octets.end());
    port->port_info.assign(from.far.octets.begin(), from.far.octets.end());
}

SmpRequest SubnetManager::p_key_table(Place place) const {
    auto request = to_port(place, Method::set, smp_attribute::p_key_table);
    const auto table = p_keys_for(end(place).guid());
    const auto cap = std::max<std::size_t>(1, end(place).node[NodeInfo::partition_cap]);
    for (std::size_t i = 0; i < std::min({table.size(), PKeyBlock::entries, cap}); ++i)
        PKeyBlock::write(request.data, i, table[i]);
    return request;
}

}  // namespace ipoib::fabric::simulated
