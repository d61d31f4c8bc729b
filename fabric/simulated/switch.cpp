// SPDX-License-Identifier: GPL-2.0-or-later
// Forwarding: unicast by LID, multicast by mask, management by its route. IBTA Vol 1, 18.2.4.
#include "fabric/simulated/switch.hpp"

#include "fabric/simulated/directed_route.hpp"

#include <algorithm>

namespace ipoib::fabric::simulated {
using namespace wire;

void Switch::join(Switch& upper, std::uint8_t upper_port, Switch& lower, std::uint8_t lower_port) {
    auto& above = upper.ports_[upper_port];
    auto& below = lower.ports_[lower_port];
    above.neighbour = &lower;
    above.neighbour_port = lower_port;
    below.neighbour = &upper;
    below.neighbour_port = upper_port;
    above.state = below.state = PortState::initialize;
}

void Switch::attach(std::uint8_t port, NodeCable* cable) {
    ports_[port].cable = cable;
    ports_[port].state = cable ? PortState::initialize : PortState::down;
}

void Switch::take(const Frame& frame, std::uint8_t in_port, Time now) {
    const auto lrh = View<Lrh>::at(frame.octets());
    const auto dlid = lrh[Lrh::dlid];
    if (lrh[Lrh::vl] == management_lane) return take_management(frame, dlid, in_port, now);
    const auto& in = ports_[in_port];
    if (!in.is_active()) {
        ++counters_.dropped_no_route;
        return;
    }
    if (is_multicast_lid(dlid)) return take_multicast(frame, dlid, in_port, now);
    const auto out_port = tables_.port_of(dlid);
    if (out_port == 0 || out_port == in_port || out_port >= ports_.size() || !ports_[out_port].is_active()) {
        ++counters_.dropped_no_route;
        return;
    }
    const auto& out = ports_[out_port];
    if (out.cable) ++counters_.forwarded;
    send(frame, out, now);
}

void Switch::take_multicast(const Frame& frame, std::uint16_t mlid, std::uint8_t in_port, Time now) {
    const auto* group = tables_.group(mlid);
    const bool is_from_node = ports_[in_port].cable != nullptr;
    if (!group || (is_from_node && !group->senders.has(in_port))) {
        ++counters_.dropped_no_route;
        return;
    }
    if (is_from_node) ++counters_.forwarded;
    group->to.for_each([&](std::uint8_t out_port) {
        if (out_port == in_port || out_port >= ports_.size() || !ports_[out_port].is_active()) return;
        if (ports_[out_port].cable) ++counters_.multicast_copies;
        send(frame, ports_[out_port], now);
    });
}

void Switch::send(const Frame& frame, const Port& port, Time now) {
    if (port.neighbour)
        port.neighbour->take(frame, port.neighbour_port, now + hop_);
    else if (port.cable)
        port.cable->carry(frame, now + hop_);
}

void Switch::take_management(const Frame& frame, std::uint16_t dlid, std::uint8_t in_port, Time now) {
    if (!ports_[in_port].is_link_up()) return;
    if (dlid != DirectedSmp::permissive_lid && (dlid == 0 || dlid != lid())) {
        // Else wrong tables would send it to and fro.
        const auto out_port = tables_.port_of(dlid);
        return send_management(frame, out_port == in_port ? no_port : out_port, now);
    }
    auto smp = SmpFrame::of(frame.octets());
    if (!smp) {
        ++counters_.malformed;
        return;
    }
    if (!smp->is_directed()) return answer(*smp, in_port, now);
    const auto hop = take_hop(smp->mad(), in_port, port_count());
    switch (hop.to) {
        case Hop::To::management:
            return answer(*smp, in_port, now);
        case Hop::To::lid:
            smp->set(Lrh::slid, lid());
            return send_to_lid(*smp, hop.lid, now);
        case Hop::To::port:
            smp->set(Lrh::dlid, DirectedSmp::permissive_lid).set(Lrh::slid, DirectedSmp::permissive_lid);
            return send_management(smp->frame(), hop.port, now);
        case Hop::To::nowhere:
            ++counters_.malformed;
    }
}

void Switch::send_to_lid(SmpFrame& smp, std::uint16_t dlid, Time now) {
    smp.set(Lrh::dlid, dlid);
    send_management(smp.frame(), tables_.port_of(dlid), now);
}

/// Management needs a link, not an active port, and may leave by the port that it came in.
void Switch::send_management(const Frame& frame, std::uint8_t port, Time now) {
    if (port == 0 || port >= ports_.size() || !ports_[port].is_link_up()) {
        ++counters_.dropped_no_route;
        return;
    }
    send(frame, ports_[port], now);
}

}  // namespace ipoib::fabric::simulated
