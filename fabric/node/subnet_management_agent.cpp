// SPDX-License-Identifier: GPL-2.0-or-later
// Get and Set of the attributes of subnet management that a channel adapter has. IBTA Vol 1, 14.2.5.
#include "fabric/node/subnet_management_agent.hpp"

#include "protocol/wire/smp.hpp"

#include <algorithm>

namespace ipoib::fabric {
using namespace wire;

namespace {

constexpr std::uint64_t default_prefix = std::uint64_t{0xfe80} << 48;
constexpr std::uint8_t polling = 2, disabled = 3, link_up = 5;
constexpr std::size_t p_keys_per_block = 32;

/// A value of an attribute that is a row of equal ones: P_KeyTable, GUIDInfo. IBTA Vol 1, 14.2.5.5 and 14.2.5.7.
template <class T>
T entry(Octets table, std::size_t index) noexcept {
    constexpr unsigned width = 8 * sizeof(T);
    return static_cast<T>(read_bits(table.data() + index * sizeof(T), At{0}, width));
}
template <class T>
void set_entry(MutableOctets table, std::size_t index, T value) noexcept {
    constexpr unsigned width = 8 * sizeof(T);
    write_bits(table.data() + index * sizeof(T), At{0}, width, value);
}

/// How a link of a rate runs: width and speed as PortInfo has them.
struct LinkRate {
    std::uint8_t rate, width, speed, extended_speed;
};
constexpr std::array<LinkRate, 20> link_rates{
    {{2, 1, 1, 0},  {3, 2, 1, 0},  {4, 8, 1, 0},  {5, 1, 2, 0},  {6, 2, 2, 0},   {7, 2, 4, 0},  {8, 8, 2, 0},
     {9, 4, 4, 0},  {10, 8, 4, 0}, {11, 1, 4, 1}, {12, 2, 4, 1}, {13, 4, 4, 1},  {14, 8, 4, 1}, {15, 1, 4, 2},
     {16, 2, 4, 2}, {17, 4, 4, 2}, {18, 8, 4, 2}, {19, 1, 4, 4}, {20, 16, 4, 2}, {21, 4, 4, 4}}};

constexpr LinkRate link_of(std::uint8_t rate) noexcept {
    for (const auto& link : link_rates)
        if (link.rate == rate) return link;
    return link_rates[1];
}

Bytes<NodeInfo> make_node_info(const HcaConfig& config, std::uint16_t partition_cap) {
    const auto node_guid = config.port_guid ^ 1;
    Bytes<NodeInfo> info;
    info.set(NodeInfo::base_version, 1)
        .set(NodeInfo::class_version, 1)
        .set(NodeInfo::node_type, NodeInfo::channel_adapter)
        .set(NodeInfo::num_ports, 1)
        .set(NodeInfo::system_image_guid, node_guid)
        .set(NodeInfo::node_guid, node_guid)
        .set(NodeInfo::port_guid, config.port_guid)
        .set(NodeInfo::partition_cap, partition_cap)
        .set(NodeInfo::device_id, 1)
        .set(NodeInfo::local_port_num, 1)
        .set(NodeInfo::vendor_id, static_cast<std::uint32_t>(config.port_guid >> 40));
    return info;
}

Bytes<PortInfo> make_port_info(const HcaConfig& config, std::uint8_t guid_cap) {
    const auto link = link_of(config.rate);
    const auto capabilities =
        PortInfo::is_client_reregistration_supported | PortInfo::is_cm_supported | (config.is_sm ? PortInfo::is_sm : 0);
    Bytes<PortInfo> info;
    info.set(PortInfo::gid_prefix, default_prefix)
        .set(PortInfo::capability_mask, capabilities)
        .set(PortInfo::local_port_num, 1)
        .set(PortInfo::link_width_enabled, link.width)
        .set(PortInfo::link_width_supported, link.width)
        .set(PortInfo::link_width_active, link.width)
        .set(PortInfo::link_speed_supported, link.speed)
        .set(PortInfo::link_speed_active, link.speed)
        .set(PortInfo::link_speed_enabled, link.speed)
        .set(PortInfo::link_speed_ext_active, link.extended_speed)
        .set(PortInfo::link_speed_ext_supported, link.extended_speed)
        .set(PortInfo::link_speed_ext_enabled, link.extended_speed)
        .set(PortInfo::port_state, PortState::down)
        .set(PortInfo::port_physical_state, polling)
        .set(PortInfo::link_down_default_state, polling)
        .set(PortInfo::neighbor_mtu, config.mtu)
        .set(PortInfo::mtu_cap, config.mtu)
        .set(PortInfo::vl_cap, 1)
        .set(PortInfo::operational_vls, 1)
        .set(PortInfo::guid_cap, guid_cap)
        .set(PortInfo::resp_time_value, 16);
    return info;
}

}  // namespace

struct SubnetManagementAgent::Request {
    View<LidSmp> smp;  ///< of either kind: method, attribute and data stand at the same place
    bool is_set;
    std::uint32_t modifier;
};

SubnetManagementAgent::SubnetManagementAgent(const HcaConfig& config)
    : node_info_(make_node_info(config, partitions)), port_info_(make_port_info(config, guids)), mtu_(config.mtu) {
    std::copy_n(config.description.begin(), std::min(config.description.size(), description_.size()),
                description_.begin());
    guids_[0] = config.port_guid;
    p_keys_[0] = 0xffff;  // IBTA Vol 1, 10.9.1.2: the default partition, until a manager says otherwise
}

bool SubnetManagementAgent::is_own_gid(const Gid& gid) const noexcept {
    if (gid.prefix() != default_prefix && gid.prefix() != port_info_[PortInfo::gid_prefix]) return false;
    return gid.interface_id() != 0 && std::find(guids_.begin(), guids_.end(), gid.interface_id()) != guids_.end();
}

bool SubnetManagementAgent::set_link(bool is_up) {
    const bool was_up = state_ != PortState::down;
    port_info_.set(PortInfo::port_physical_state, is_up ? link_up : polling);
    set_state(is_up ? PortState::initialize : PortState::down);
    return was_up;
}

void SubnetManagementAgent::set_state(PortState state) noexcept {
    state_ = state;
    port_info_.set(PortInfo::port_state, state);
}

void SubnetManagementAgent::count(const Field<PortInfo, std::uint16_t>& counter) noexcept {
    if (const auto value = port_info_[counter]; value != 0xffff)
        port_info_.set(counter, static_cast<std::uint16_t>(value + 1));
}

SubnetManagementAgent::Outcome SubnetManagementAgent::handle(Octets smp) {
    Outcome outcome;
    const auto header = View<LidSmp>::at(smp);
    if (!header || header[LidSmp::base_version] != 1) return outcome;
    const auto method = header[LidSmp::method];
    if (is_response(method)) return outcome;
    const Request request{header, method == Method::set, header[LidSmp::attribute_modifier]};
    if (is_locked_for(request)) return outcome;

    std::copy(smp.begin(), smp.begin() + mad_size, outcome.answer.begin());
    const MutableOctets answer{outcome.answer};
    const auto data = answer.subspan(LidSmp::data.at.bit / 8, LidSmp::data.width / 8);
    std::uint16_t status = mad_status::unsupported_method;
    if (header[LidSmp::class_version] != 1) {
        status = mad_status::bad_version;
    } else if (request.is_set || method == Method::get) {
        status = answer_to(request, data, outcome.events);
    }
    set_field(answer, LidSmp::method, Method::get_resp);
    if (header[LidSmp::mgmt_class] == MgmtClass::subn_directed_route) {
        set_field(answer, DirectedSmp::is_returning, true);
        set_field(answer, DirectedSmp::status, status);
    } else {
        set_field(answer, LidSmp::status, status);
    }
    outcome.is_answered = true;
    return outcome;
}

/// IBTA Vol 1, 14.2.4: with a wrong M_Key nothing is set, and with protection nothing told.
bool SubnetManagementAgent::is_locked_for(const Request& request) {
    constexpr std::uint8_t protects_reading = 2;
    const auto m_key = port_info_[PortInfo::m_key];
    if (m_key == 0 || m_key == request.smp[LidSmp::m_key]) return false;
    if (!request.is_set && port_info_[PortInfo::m_key_protect_bits] < protects_reading) return false;
    count(PortInfo::m_key_violations);
    return true;
}

std::uint16_t SubnetManagementAgent::answer_to(const Request& request, MutableOctets data,
                                               std::vector<PortEvent>& events) {
    const auto copy = [&data](Octets from) {
        std::fill(data.begin(), data.end(), std::uint8_t{0});
        std::copy(from.begin(), from.end(), data.begin());
        return mad_status::ok;
    };
    const auto attribute = request.smp[LidSmp::attribute_id];
    switch (attribute) {
        case smp_attribute::port_info:
            return port_info_of(request, data, events);
        case smp_attribute::guid_info:
            return guid_info_of(request, data);
        case smp_attribute::p_key_table:
            return p_key_table_of(request, data, events);
        case smp_attribute::vl_arbitration_table:
            return vl_arbitration_of(request, data);
        case smp_attribute::sl_to_vl_mapping_table:
            if (request.is_set) std::copy_n(data.begin(), sl_to_vl_.size(), sl_to_vl_.begin());
            return copy(sl_to_vl_);
        default:
            break;
    }
    if (!request.is_set && attribute == smp_attribute::node_description) return copy(description_);
    if (!request.is_set && attribute == smp_attribute::node_info) return copy(node_info_.octets);
    return mad_status::unsupported_method_attribute;
}

std::uint16_t SubnetManagementAgent::port_info_of(const Request& request, MutableOctets data,
                                                  std::vector<PortEvent>& events) {
    if (request.modifier > 1) return mad_status::invalid_field;
    std::uint16_t status = mad_status::ok;
    bool is_reregistering = false;
    if (request.is_set) {
        const auto wanted = View<PortInfo>::at(data);
        is_reregistering = wanted[PortInfo::client_reregister];
        if (is_settable(wanted))
            set_port_info(wanted, events);
        else
            status = mad_status::invalid_field;
    }
    std::copy(port_info_.octets.begin(), port_info_.octets.end(), data.begin());
    // The bit is no state: a Set's answer repeats it, a Get shows zero.
    set_field(data, PortInfo::client_reregister, is_reregistering);
    const bool hides_key =
        port_info_[PortInfo::m_key_protect_bits] != 0 && request.smp[LidSmp::m_key] != port_info_[PortInfo::m_key];
    if (hides_key) set_field(data, PortInfo::m_key, 0);
    return status;
}

/// The components of a Set that a manager may get wrong, and the state machine of 7.2.7.
bool SubnetManagementAgent::is_settable(const View<PortInfo>& wanted) const noexcept {
    const auto lid = wanted[PortInfo::lid];
    if (lid != lid_ && (lid == 0 || lid >= 0xc000)) return false;
    const auto mtu = wanted[PortInfo::neighbor_mtu];
    if (mtu == 0 || mtu > port_info_[PortInfo::mtu_cap]) return false;
    switch (wanted[PortInfo::port_state]) {
        case PortState::no_change:
        case PortState::down:
            return true;
        case PortState::armed:
            return state_ == PortState::initialize || state_ == PortState::armed;
        case PortState::active:
            return state_ == PortState::armed || state_ == PortState::active;
        default:
            return false;
    }
}

void SubnetManagementAgent::set_port_info(const View<PortInfo>& wanted, std::vector<PortEvent>& events) {
    const auto take = [&](const auto&... field) { (port_info_.set(field, wanted[field]), ...); };
    const auto sm_of = [](const auto& info) {
        return std::pair{info[PortInfo::master_sm_lid], info[PortInfo::master_sm_sl]};
    };
    const auto old_sm = sm_of(port_info_);
    const auto old_lid = lid_;
    take(PortInfo::m_key, PortInfo::gid_prefix, PortInfo::lid, PortInfo::master_sm_lid, PortInfo::m_key_lease_period,
         PortInfo::m_key_protect_bits, PortInfo::lmc, PortInfo::neighbor_mtu, PortInfo::master_sm_sl,
         PortInfo::vl_high_limit, PortInfo::vl_stall_count, PortInfo::hoq_life, PortInfo::subnet_timeout,
         PortInfo::local_phy_errors, PortInfo::overrun_errors, PortInfo::m_key_violations, PortInfo::p_key_violations,
         PortInfo::q_key_violations);
    lid_ = wanted[PortInfo::lid];
    lmc_ = wanted[PortInfo::lmc];
    mtu_ = wanted[PortInfo::neighbor_mtu];
    if (lid_ != old_lid) events.push_back(PortEvent::lid_change);
    if (sm_of(port_info_) != old_sm) events.push_back(PortEvent::sm_change);

    const auto physical = wanted[PortInfo::port_physical_state];
    const auto state = wanted[PortInfo::port_state];
    const bool goes_down = state == PortState::down || physical == disabled;
    if (goes_down && state_ != PortState::down) {
        set_state(PortState::down);
        events.push_back(PortEvent::down);
    }
    if (physical == disabled) port_info_.set(PortInfo::port_physical_state, disabled);
    const bool trains = physical == polling || (goes_down && port_info_[PortInfo::port_physical_state] != disabled);
    if (trains && state_ == PortState::down) set_link(true);
    if (state == PortState::armed && state_ == PortState::initialize) set_state(PortState::armed);
    if (state == PortState::active && state_ == PortState::armed) {
        set_state(PortState::active);
        events.push_back(PortEvent::active);
    }
    if (wanted[PortInfo::client_reregister]) events.push_back(PortEvent::client_reregister);
}

std::uint16_t SubnetManagementAgent::guid_info_of(const Request& request, MutableOctets data) {
    if (request.modifier != 0) return mad_status::invalid_field;
    for (std::size_t i = 0; i < guids; ++i) {
        // The first entry is the port's own and stays.
        if (request.is_set && i != 0) guids_[i] = entry<std::uint64_t>(data, i);
        set_entry(data, i, guids_[i]);
    }
    return mad_status::ok;
}

std::uint16_t SubnetManagementAgent::p_key_table_of(const Request& request, MutableOctets data,
                                                    std::vector<PortEvent>& events) {
    const auto block = request.modifier & 0xffff;
    if (block >= partitions / p_keys_per_block) return mad_status::invalid_field;
    const std::span keys{p_keys_.data() + block * p_keys_per_block, p_keys_per_block};
    bool is_changed = false;
    for (std::size_t i = 0; i < keys.size(); ++i) {
        const auto wanted = entry<std::uint16_t>(data, i);
        if (request.is_set && keys[i] != wanted) {
            keys[i] = wanted;
            is_changed = true;
        }
        set_entry(data, i, keys[i]);
    }
    if (is_changed) {
        const auto last = std::find_if(p_keys_.rbegin(), p_keys_.rend(), [](auto key) { return key != 0; });
        p_keys_used_ = static_cast<std::size_t>(p_keys_.rend() - last);
        events.push_back(PortEvent::p_key_change);
    }
    return mad_status::ok;
}

std::uint16_t SubnetManagementAgent::vl_arbitration_of(const Request& request, MutableOctets data) {
    const auto block = request.modifier >> 16;
    if (block < 1 || block > vl_arbitration_.size()) return mad_status::invalid_field;
    auto& table = vl_arbitration_[block - 1];
    if (request.is_set) std::copy(data.begin(), data.end(), table.begin());
    std::copy(table.begin(), table.end(), data.begin());
    return mad_status::ok;
}

}  // namespace ipoib::fabric
