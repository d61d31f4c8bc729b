// SPDX-License-Identifier: GPL-2.0-or-later
// One IPoIB interface: how it comes up, what it receives, how it goes down.
#include "stack/interface.hpp"

#include "stack/node.hpp"

#include <algorithm>

namespace ipoib::stack {
using namespace wire;
using fabric::PortEvent;

Interface::Interface(Node& node, std::string name, std::uint16_t p_key)
    : node_(node), name_(std::move(name)), p_key_(p_key) {
    for (const bool is_v4 : {true, false}) membership_.hold(all_nodes(is_v4));
}

Interface::~Interface() {
    down();
    end_lingering();
}

const Policy& Interface::policy(Family family) const noexcept { return node_.policy(family); }
fabric::Loop& Interface::loop() const noexcept { return node_.loop(); }
fabric::SaClient& Interface::sa() const noexcept { return node_.sa(); }
std::uint8_t Interface::states_of_others(const Gid& mgid) const {
    return policy(family_of_group(mgid)).heeds_other_interfaces ? node_.states_of_others(mgid, *this) : std::uint8_t{0};
}
void Interface::log(std::string_view text) const { node_.log().write(name_ + ": " + std::string(text)); }

std::string Interface::up() {
    if (is_up()) return {};
    end_lingering();
    queue_pair_ = node_.hca().create(0, 0, [this](const fabric::Datagram& datagram) { receive(datagram); });
    if (!queue_pair_) return "the adapter has no more queue pairs";
    has_stalled_ = false;
    trouble_ = "the SA has not answered yet";
    add_link_local();
    begin(Beginning::interface);
    return {};
}

void Interface::begin(Beginning beginning) {
    if (had_link_) beginning_ = beginning;
    look_at_port();
    link_setup_.start();
}

void Interface::look_at_port() {
    const auto before = std::exchange(port_, node_.hca().facts());
    if (!policy().follows_lid && before.lid != 0) port_.lid = before.lid;
}

void Interface::down() {
    if (!is_up()) return;
    dhcp_.stop();
    link_setup_.stop();
    connections_.close();
    membership_.link_lost();
    egress_.clear();
    if (policy().leaves_when_down)
        groups_.leave_all();
    else
        groups_.forget_all();
    lingers_ = is_running_ && policy().when_down != WhenDown::silent;
    if (!policy().keeps_paths && policy().when_down != WhenDown::finishes) paths_.clear();
    neighbours_.flush();
    trouble_ = "the interface is down";
    if (!lingers_) end_link();
    tell_waiting();
}

void Interface::end_link() {
    is_running_ = lingers_ = false;
    if (queue_pair_) destroy_queue_pair(std::exchange(queue_pair_, nullptr));
}

void Interface::end_lingering() {
    if (!lingers_) return;
    paths_.clear();
    neighbours_.flush();
    end_link();
}

/// The link as it is, with the parameters of packets as they were.
static Link with_parameters_of(const Link& before, Link link) {
    link.q_key = before.q_key;
    link.sl = before.sl;
    link.traffic_class = before.traffic_class;
    link.flow_label = before.flow_label;
    link.hop_limit = before.hop_limit;
    return link;
}

/// RFC 4391, 5: the parameters are the interface's from now on; IP's groups follow.
void Interface::link_up(const Link& link, const Group& broadcast) {
    const bool is_first = !std::exchange(had_link_, true);
    link_ = is_first || policy().adopts_anew ? link : with_parameters_of(link_, link);
    if (is_first)
        link_octets_ = mtu_octets(link.mtu);
    else if (policy().adopts_mtu_anew)
        link_octets_ = policy().mtu_anew(link_octets_, mtu_octets(link.mtu));
    queue_pair_->q_key = policy().accepted_q_key(link_);
    queue_pair_->p_key = link_.p_key;
    if (is_first) first_gid_ = previous_gid_ = port_.gid;
    if (!policy().keeps_lowered_mtu) mtu_limit_ = 0;
    p_key_index_ = static_cast<std::size_t>(std::ranges::find(port_.p_keys, link_.p_key) - port_.p_keys.begin());
    is_running_ = true;
    trouble_.clear();
    groups_.note(broadcast);
    if (!policy().keeps_paths && policy().renews_paths) paths_.clear();
    egress_.clear();
    node_.subscriptions().ensure();
    membership_.link_up(std::exchange(beginning_, Beginning::renewal));
    router_.link_up();
    log("running on " + text(broadcast.mgid) + ", MTU " + std::to_string(mtu()));
    tell_waiting();
}

void Interface::link_lost(const std::string& reason) {
    if (reason != trouble_) log(reason);
    trouble_ = reason;
    if (!std::exchange(is_running_, false)) return;
    connections_.close();
    membership_.link_lost();
    egress_.clear();
    groups_.forget_all_but_sent_to();
    paths_.clear();
}

/// Whether a change of the port's table leaves the link its P_Key: then nothing begins anew. RFC 4391, 5.
bool Interface::keeps_p_key() const {
    const auto& p_keys = port_.p_keys;
    if (!is_running_ || !is_full_member(link_.p_key) || p_keys.empty()) return false;
    return p_key_ == 0 ? p_keys.front() == link_.p_key
                       : std::find(p_keys.begin(), p_keys.end(), link_.p_key) != p_keys.end();
}

/// The interface goes to the link of another P_Key, and the port is in the partition of the old one still.
void Interface::leave_old_link() {
    if (!is_running_ || std::ranges::find(port_.p_keys, link_.p_key) == port_.p_keys.end()) return;
    if (policy().leaves_when_down) groups_.leave_all();
    link_lost("the P_Key of the link is not the first of the port's table any more");
}

/// RFC 4391, 5 and IBTA Vol 1, 11.6.3: a new SM, or one that says so, has forgotten what was joined.
void Interface::port_event(PortEvent event) {
    if (!is_up()) return;
    if (!policy().follows_manager && sa().manager_lid == 0) sa().manager_lid = port_.sm_lid;
    const auto gid = port_.gid;
    look_at_port();
    if (gid != port_.gid) previous_gid_ = gid;
    switch (event) {
        case PortEvent::down:
            link_setup_.stop();
            return link_lost("the port is not active");
        case PortEvent::active:
            if (!is_running_ && (policy().returns_with_port || !had_link_)) begin(Beginning::port);
            return;
        case PortEvent::lid_change:
        case PortEvent::sm_change:
        case PortEvent::client_reregister:
            if (is_running_ && !policy().rejoins) return;
            if (is_running_ && policy().restarts_to_rejoin) {
                down();
                return static_cast<void>(up());
            }
            groups_.forget_all_but_sent_to();
            egress_.clear();
            if (policy().renews_paths) paths_.clear();
            return begin(Beginning::renewal);
        case PortEvent::p_key_change:
            if (keeps_p_key() || (had_link_ && !policy().heeds_first_p_key)) return;
            leave_old_link();
            if (!had_link_ || policy().returns_with_p_key) return begin(Beginning::port);
            link_setup_.stop();
            return link_lost("the port does not have the P_Key of the link");
    }
}

/// RFC 4391, 10 and 11.
void Interface::report(std::uint16_t trap_number, const Gid& mgid) {
    // A group set up in advance stays though trap 67 is reported for it.
    if (!is_running_) return;
    if (mgid == link_.broadcast_gid()) {
        if (trap_number == trap::multicast_group_deleted && !policy().outlives_broadcast_report) down();
        return;
    }
    if (trap_number == trap::multicast_group_created) {
        egress_.group_created(mgid);
        router_.group_created(mgid);
    } else if (trap_number == trap::multicast_group_deleted) {
        if (policy(family_of_group(mgid)).heeds_deletion) groups_.forget(mgid);
        egress_.group_deleted(mgid);
        router_.group_deleted(mgid);
        membership_.group_deleted(mgid);
    }
}

/// RFC 4391, 6: with or without a GRH, whatever Reserved says, to the protocol that Type names.
void Interface::receive(const fabric::Datagram& datagram) {
    const auto& packet = *datagram.packet;
    const auto encap = View<Encap>::at(packet.payload);
    if (!is_running_ || has_stalled_ || (lingers_ && policy().when_down == WhenDown::finishes)) return;
    const auto& rules = policy(encap ? family_of(encap[Encap::type]) : Family::ipv4);
    if (!rules.survives(packet)) return stall("a datagram with " + std::to_string(packet.payload.size()) + " octets");
    if (!encap) return;
    const auto inside = packet.payload.subspan(Encap::size);
    if (!rules.accepts_packet(packet) || !rules.accepts_encap_reserved(encap[Encap::reserved]) ||
        !rules.accepts_length(inside.size()) || (packet.is_multicast && !rules.takes_from_group(packet.grh, link_)) ||
        !rules.accepts_grh(static_cast<bool>(packet.grh), packet.is_multicast, packet.arp || packet.nd_target))
        return;
    const auto protocol = rules.demultiplexed(encap[Encap::type], inside);
    const bool is_ip = protocol == EtherType::ipv4 || protocol == EtherType::ipv6;
    const auto established = connections_.count(Connections::State::established);
    if (is_ip && !packet.is_multicast && !rules.accepts_datagrams(is_connected_mode(), established)) return;
    if (is_ip && !packet.is_multicast && rules.follows_source_qp) follow(packet);
    switch (protocol) {
        case EtherType::arp:
            if (rules.accepts_arp_reserved(encap[Encap::reserved])) arp_.receive(packet);
            return;
        case EtherType::ipv4:
            if (packet.ipv4) ip_.receive_v4(packet);
            return;
        case EtherType::ipv6:
            if (packet.ipv6) ip_.receive_v6(packet);
            return;
        default:
            if (rules.survives_unknown_type || encap[Encap::type] == EtherType::rarp) return;
            stall("Type " + hex(static_cast<std::uint16_t>(encap[Encap::type]), 4));
    }
}

void Interface::follow(const Packet& packet) {
    if (!packet.ipv4 && !packet.ipv6) return;
    const auto from = packet.ipv4 ? IpAddress::v4(packet.ipv4[Ipv4::source]) : IpAddress::v6(packet.ipv6[Ipv6::source]);
    neighbours_.follow(from, packet.deth[Deth::src_qp]);
}

void Interface::stall(const std::string& at) {
    has_stalled_ = true;
    node_.fault(name_ + ": reception stopped at " + at);
}

/// RFC 4755, 4 and 7: unicast IP only; groups and address resolution have the UD queue pair.
void Interface::receive_over_connection(const Packet& packet, bool is_requester, std::size_t receive_mtu) {
    if (!is_running_ || has_stalled_ || !packet.has(Part::connected)) return;
    const auto& rules = policy(packet.ipv6 ? Family::ipv6 : Family::ipv4);
    if (!rules.accepts_over_connection(is_requester, packet.payload.size() - Encap::size, receive_mtu)) return;
    if (packet.ipv4) ip_.receive_v4(packet);
    if (packet.ipv6) ip_.receive_v6(packet);
}

void Interface::when_running(fabric::Duration patience, std::function<void(bool)> done) {
    if (is_running_ || !is_up()) return done(is_running_);
    const auto number = next_waiting_++;
    waiting_.push_back({number, std::move(done)});
    loop().after(patience, lifetime_.guard([this, number] {
        const auto at = std::find_if(waiting_.begin(), waiting_.end(),
                                     [&](const Waiting& waiting) { return waiting.number == number; });
        if (at == waiting_.end()) return;
        const auto late = std::move(at->done);
        waiting_.erase(at);
        late(false);
    }));
}

void Interface::tell_waiting() {
    for (const auto& waiting : std::exchange(waiting_, {})) waiting.done(is_running_);
}

}  // namespace ipoib::stack
