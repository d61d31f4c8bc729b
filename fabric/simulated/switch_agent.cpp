// SPDX-License-Identifier: GPL-2.0-or-later
// The subnet management agent of a switch. IBTA Vol 1, 14.2.5.
#include "fabric/simulated/directed_route.hpp"
#include "fabric/simulated/switch.hpp"
#include "protocol/wire/node_record.hpp"

#include <algorithm>
#include <string_view>

namespace ipoib::fabric::simulated {
using namespace wire;
namespace {

constexpr std::string_view description = "ipoib-conform switch";
constexpr std::uint8_t mtu_4096 = 5, link_up = 5, polling = 2, four_lanes = 2, single_speed = 1, one_lane_of_data = 1;

void fill(MutableOctets data, Octets with) noexcept {
    std::fill(data.begin(), data.end(), std::uint8_t{0});
    std::copy(with.begin(), with.end(), data.begin());
}

/// What every port of a switch has, port 0 as well.
Bytes<PortInfo> port_of_switch() {
    return Bytes<PortInfo>{}
        .set(PortInfo::link_width_enabled, four_lanes)
        .set(PortInfo::link_width_supported, four_lanes)
        .set(PortInfo::link_width_active, four_lanes)
        .set(PortInfo::link_speed_supported, single_speed)
        .set(PortInfo::link_speed_active, single_speed)
        .set(PortInfo::link_speed_enabled, single_speed)
        .set(PortInfo::link_down_default_state, polling)
        .set(PortInfo::mtu_cap, mtu_4096)
        .set(PortInfo::vl_cap, one_lane_of_data)
        .set(PortInfo::operational_vls, one_lane_of_data);
}

}  // namespace

Switch::Switch(std::uint64_t guid, unsigned ports, Duration hop, Subnet::Counters& counters)
    : guid_(guid),
      hop_(hop),
      counters_(counters),
      ports_(std::clamp(ports, fewest_ports, most_ports) + 1),
      management_(port_of_switch()) {
    for (auto& port : ports_) port.neighbor_mtu = mtu_4096;
    management_.set(PortInfo::gid_prefix, std::uint64_t{0xfe80} << 48)
        .set(PortInfo::port_state, PortState::active)
        .set(PortInfo::port_physical_state, link_up)
        .set(PortInfo::neighbor_mtu, mtu_4096)
        .set(PortInfo::guid_cap, 1);
    info_.set(SwitchInfo::linear_cap, std::uint16_t{unicast_lids})
        .set(SwitchInfo::multicast_cap, std::uint16_t{multicast_lids})
        .set(SwitchInfo::default_port, no_port)
        .set(SwitchInfo::primary_port, no_port)
        .set(SwitchInfo::other_port, no_port);
    p_keys_[0] = 0xffff;
}

/// Sends the answer to a Get or a Set on its way; responses and traps have nobody here who wants them.
void Switch::answer(SmpFrame& smp, std::uint8_t in_port, Time now) {
    const auto method = smp.smp()[LidSmp::method];
    const bool is_set = method == Method::set;
    if (is_response(method) || method == Method::trap) return;
    const bool is_known = is_set || method == Method::get;
    const auto status = is_known ? attribute(smp, in_port, is_set) : mad_status::unsupported_method;
    smp.set(LidSmp::method, Method::get_resp);
    if (smp.is_directed()) {
        smp.set(DirectedSmp::status, status).set(DirectedSmp::is_returning, true);
        const auto hop = take_hop(smp.mad(), in_port, port_count());
        if (hop.to == Hop::To::lid) return send_to_lid(smp.set(Lrh::slid, lid()), hop.lid, now);
        smp.set(Lrh::dlid, DirectedSmp::permissive_lid).set(Lrh::slid, DirectedSmp::permissive_lid);
        if (hop.to == Hop::To::port) send_management(smp.frame(), hop.port, now);
        return;
    }
    const auto asked_by = smp.lrh()[Lrh::slid];
    smp.set(LidSmp::status, status).set(Lrh::slid, lid());
    if (asked_by != DirectedSmp::permissive_lid) return send_to_lid(smp, asked_by, now);
    send_management(smp.set(Lrh::dlid, asked_by).frame(), in_port, now);
}

std::uint16_t Switch::attribute(SmpFrame& smp, std::uint8_t in_port, bool is_set) {
    const auto data = smp.data();
    const auto modifier = smp.smp()[LidSmp::attribute_modifier];
    const auto id = smp.smp()[LidSmp::attribute_id];
    switch (id) {
        case smp_attribute::switch_info:
            return switch_info(data, is_set);
        case smp_attribute::port_info:
            return port_info(modifier, data, is_set);
        case smp_attribute::linear_forwarding_table:
        case smp_attribute::multicast_forwarding_table:
        case smp_attribute::p_key_table:
            return table(id, modifier, data, is_set);
        default:
            break;
    }
    if (is_set) return mad_status::unsupported_method_attribute;
    fill(data, {});
    switch (id) {
        case smp_attribute::node_info:
            node_info(data, in_port);
            return mad_status::ok;
        case smp_attribute::node_description:
            std::copy(description.begin(), description.end(), data.begin());
            return mad_status::ok;
        case smp_attribute::guid_info:
            if (modifier != 0) return mad_status::invalid_field;
            GuidBlock::write(data, 0, guid_);
            return mad_status::ok;
        case smp_attribute::sl_to_vl_mapping_table:  // every SL to VL 0
        case smp_attribute::vl_arbitration_table:    // one lane needs no arbitration
            return mad_status::ok;
        default:
            return mad_status::unsupported_method_attribute;
    }
}

std::uint16_t Switch::table(std::uint16_t attribute, std::uint32_t modifier, MutableOctets data, bool is_set) {
    const auto status = [](bool is_there) { return is_there ? mad_status::ok : mad_status::invalid_field; };
    if (attribute == smp_attribute::linear_forwarding_table)
        return status(is_set ? tables_.write_linear(modifier, data) : tables_.read_linear(modifier, data));
    if (attribute == smp_attribute::multicast_forwarding_table) {
        const auto where = MulticastModifier::of(modifier);
        return status(is_set ? tables_.write_multicast(where, data) : tables_.read_multicast(where, data));
    }
    if (modifier != 0) return mad_status::invalid_field;  // its other ports enforce no partitions
    for (std::size_t i = 0; i < p_keys_.size(); ++i) {
        if (is_set) p_keys_[i] = PKeyBlock::read(data, i);
        PKeyBlock::write(data, i, p_keys_[i]);
    }
    return mad_status::ok;
}

std::uint16_t Switch::switch_info(MutableOctets data, bool is_set) {
    if (is_set) {
        const auto wanted = View<SwitchInfo>::at(data);
        info_.set(SwitchInfo::linear_top, wanted[SwitchInfo::linear_top])
            .set(SwitchInfo::life_time, wanted[SwitchInfo::life_time])
            .set(SwitchInfo::multicast_top, wanted[SwitchInfo::multicast_top]);
    }
    fill(data, info_.octets);
    return mad_status::ok;
}

void Switch::node_info(MutableOctets data, std::uint8_t in_port) const {
    Bytes<NodeInfo> info;
    info.set(NodeInfo::base_version, 1)
        .set(NodeInfo::class_version, 1)
        .set(NodeInfo::node_type, NodeInfo::switch_node)
        .set(NodeInfo::num_ports, static_cast<std::uint8_t>(port_count()))
        .set(NodeInfo::system_image_guid, guid_)
        .set(NodeInfo::node_guid, guid_)
        .set(NodeInfo::port_guid, guid_)
        .set(NodeInfo::partition_cap, std::uint16_t{PKeyBlock::entries})
        .set(NodeInfo::local_port_num, in_port)
        .set(NodeInfo::vendor_id, static_cast<std::uint32_t>(guid_ >> 40));
    fill(data, info.octets);
}

std::uint16_t Switch::port_info(std::uint32_t port, MutableOctets data, bool is_set) {
    if (port >= ports_.size()) return mad_status::invalid_field;
    const auto wanted = View<PortInfo>::at(data);
    std::uint16_t status = mad_status::ok;
    if (is_set) status = port == 0 ? set_management_port(wanted) : set_port(ports_[port], wanted);
    show_port(static_cast<std::uint8_t>(port), data);
    return status;
}

void Switch::show_port(std::uint8_t number, MutableOctets data) const {
    if (number == 0) return fill(data, management_.octets);
    const auto& port = ports_[number];
    auto info = port_of_switch();
    info.set(PortInfo::local_port_num, number)
        .set(PortInfo::port_state, port.state)
        .set(PortInfo::port_physical_state, port.is_link_up() ? link_up : polling)
        .set(PortInfo::neighbor_mtu, port.neighbor_mtu);
    fill(data, info.octets);
}

std::uint16_t Switch::set_management_port(View<PortInfo> wanted) {
    const auto lid = wanted[PortInfo::lid];
    if (lid == 0 || lid >= first_multicast_lid) return mad_status::invalid_field;
    const auto take = [&](const auto&... field) { (management_.set(field, wanted[field]), ...); };
    take(PortInfo::gid_prefix, PortInfo::lid, PortInfo::master_sm_lid, PortInfo::master_sm_sl,
         PortInfo::subnet_timeout);
    return mad_status::ok;
}

/// IBTA Vol 1, 7.2.7: what a manager may command in which state.
std::uint16_t Switch::set_port(Port& port, View<PortInfo> wanted) {
    const auto mtu = wanted[PortInfo::neighbor_mtu];
    if (mtu == 0 || mtu > mtu_4096) return mad_status::invalid_field;
    const auto to = wanted[PortInfo::port_state], from = port.state;
    const bool arms = to == PortState::armed && (from == PortState::initialize || from == PortState::armed);
    const bool activates = to == PortState::active && (from == PortState::armed || from == PortState::active);
    if (to != PortState::no_change && !arms && !activates) return mad_status::invalid_field;
    if (to != PortState::no_change) port.state = to;
    port.neighbor_mtu = mtu;
    return mad_status::ok;
}

}  // namespace ipoib::fabric::simulated
