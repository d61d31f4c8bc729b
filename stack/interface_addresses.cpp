// SPDX-License-Identifier: GPL-2.0-or-later
// One IPoIB interface: its addresses, its MTU, its queue pair. RFC 4391, 7, 8 and 9.1.1.
#include "stack/interface.hpp"
#include "stack/node.hpp"

#include <algorithm>

namespace ipoib::stack {
using namespace wire;

namespace {
constexpr std::size_t least_mtu = 68;  // RFC 791, 3.2
}

build::Node Interface::self() const noexcept { return {.lid = port_.lid, .gid = port_.gid, .qpn = ud_qpn()}; }

HardwareAddress Interface::hardware_address(Family family) const noexcept {
    const auto& rules = policy(family);
    const auto flags = is_connected_mode() ? rules.connected_flags : rules.datagram_flags;
    HardwareAddress address;
    address.set(LinkAddress::flags, flags)
        .set(LinkAddress::qpn, rules.own_qpn(ud_qpn()))
        .set(LinkAddress::gid, rules.own_gid(rules.renews_own_gid ? port_.gid : first_gid_));
    return address;
}

/// RFC 4391, 8: the port's GUID makes the interface identifier.
void Interface::add_link_local() {
    constexpr std::uint8_t prefix_length = 64;
    const auto guid = node_.hca().config().port_guid;
    const auto& rules = policy(Family::ipv6);
    const auto id = rules.interface_id(guid, rules.is_modified_eui64(guid));
    const IpNetwork network{IpAddress::v6(rules.link_local(id)), prefix_length};
    if (!has_address(network.address)) static_cast<void>(add_address(network));
}

std::string Interface::add_address(const IpNetwork& network) {
    if (network.address.is_multicast() || network.address.is_limited_broadcast()) return "not an address of a node";
    if (has_address(network.address)) return {};
    if (addresses_.size() >= most_addresses) return "too many addresses";
    addresses_.push_back(network);
    hold_groups_of(network, true);
    return {};
}

std::string Interface::remove_address(const IpNetwork& network) {
    const auto found = std::find(addresses_.begin(), addresses_.end(), network);
    if (found == addresses_.end()) return "the interface has no such address";
    if (former_addresses_.size() >= most_addresses) former_addresses_.erase(former_addresses_.begin());
    former_addresses_.push_back(network);
    addresses_.erase(found);
    hold_groups_of(network, false);
    return {};
}

/// RFC 4291, 2.8: a node listens to the solicited-node group of each of its addresses.
void Interface::hold_groups_of(const IpNetwork& network, bool is_held) {
    if (network.address.is_v4()) return;
    const auto group = IpAddress::v6(solicited_node_group(network.address.octets));
    is_held ? membership_.hold(group) : membership_.release(group);
}

bool Interface::has_address(const IpAddress& address) const noexcept {
    for (const auto& network : addresses_)
        if (network.address == address) return true;
    return false;
}

bool Interface::answers_at(const IpAddress& address) const noexcept {
    return has_address(address) ||
           (policy(family_of(address)).answers_for_former &&
            std::ranges::find(former_addresses_, address, &IpNetwork::address) != former_addresses_.end());
}

bool Interface::is_on_link(const IpAddress& address) const noexcept {
    return std::any_of(addresses_.begin(), addresses_.end(),
                       [&](const IpNetwork& network) { return network.contains(address); });
}

bool Interface::is_directed_broadcast(const IpAddress& address) const noexcept {
    return std::any_of(addresses_.begin(), addresses_.end(),
                       [&](const IpNetwork& network) { return policy().is_directed_broadcast(address, network); });
}

/// Of the same network if possible; for IPv6 beyond the link's scope a wider address is better. RFC 6724, 5.
std::optional<IpAddress> Interface::source_for(const IpAddress& to) const noexcept {
    const auto is_link_local = [](const IpAddress& address) {
        return !address.is_v4() && address.octets.prefix() >> 54 == 0xfe80 >> 6;
    };
    const bool wants_wide = !to.is_v4() && to.is_multicast() && answers::is_beyond_link_local(to);
    std::optional<IpAddress> best;
    for (const auto& network : addresses_) {
        if (network.address.is_v4() != to.is_v4()) continue;
        if (network.contains(to)) return network.address;
        if (!best || (wants_wide && is_link_local(*best))) best = network.address;
    }
    return best;
}

std::optional<IpAddress> Interface::asks_from(const IpAddress& to, bool is_known) {
    const auto& rules = policy(family_of(to));
    if (rules.asks_again_as_before) {
        if (const auto found = first_asked_from_.find(to); is_known && found != first_asked_from_.end())
            return found->second;
        if (const auto now = source_for(to); now && first_asked_from_.size() < Neighbours::most_neighbours)
            first_asked_from_.try_emplace(to, *now);
    }
    const auto former = std::ranges::find_if(former_addresses_, [&](const IpNetwork& one) { return one.contains(to); });
    if (rules.asks_from_former && !is_known && former != former_addresses_.end()) return former->address;
    return source_for(to);
}

/// Of IP.
std::size_t Interface::link_mtu(Family family) const noexcept {
    return link_octets_ == 0 ? 0 : policy(family).ip_mtu(link_octets_);
}

std::size_t Interface::mtu(Family family) const noexcept {
    const auto most = link_mtu(family);
    if (mtu_limit_ == 0) return most;
    return policy(Family::ipv4).can_have_mtu(mtu_limit_, largest_mtu(family)) ? mtu_limit_ : most;
}

std::size_t Interface::largest_mtu(Family family) const noexcept {
    return is_connected_mode() ? Connections::largest_mtu : link_mtu(family);
}

std::size_t Interface::datagram_mtu(Family family) const noexcept {
    return is_connected_mode() ? std::min(mtu(family), link_mtu(family)) : mtu(family);
}

std::size_t Interface::mtu_to(const IpAddress& neighbour) const {
    const auto family = family_of(neighbour);
    const auto of_connection = neighbours_.mtu_of_connection(neighbour);
    if (!of_connection) return datagram_mtu(family);
    if (!policy(family).fragments_for_connection) return mtu(family);
    return std::min(mtu(family), *of_connection);
}

std::string Interface::set_mtu(std::size_t mtu) {
    if (!is_running_) return "the interface is not running";
    const auto& rules = policy(Family::ipv4);
    const auto most = largest_mtu(Family::ipv4);
    if (mtu < least_mtu || !rules.can_have_mtu(mtu, most))
        return "not between " + std::to_string(least_mtu) + " and the " +
               (is_connected_mode() ? "largest of connections, " : "link's MTU, ") + std::to_string(most);
    if (rules.raises_mtu || mtu < this->mtu(Family::ipv4)) mtu_limit_ = mtu;
    return {};
}

void Interface::set_scope(std::uint8_t scope) {
    scope_ = scope;
    if (!is_up()) return;
    link_setup_.stop();
    if (is_running_) {
        membership_.link_lost();
        groups_.leave_all();
        link_lost("the scope was changed");
    }
    begin(Beginning::interface);
}

void Interface::set_timers(const Timers& timers) {
    timers_ = timers;
    neighbours_.timers_changed();
    egress_.timers_changed();
}

void Interface::solicit(const IpAddress& address, const Peer* peer) {
    if (!is_running_) return;
    address.is_v4() ? arp_.request(address.v4(), peer) : neighbour_discovery_.solicit(address.octets, peer);
}

void Interface::transmit(build::PacketBuilder& packet) {
    if (!is_running_) return;
    packet.choose(Bth::psn, queue_pair_->next_psn++);
    const auto encap = packet.get<Encap>();
    const auto& rules = policy(encap ? family_of(encap[Encap::type]) : Family::ipv4);
    if (!rules.follows_p_key && p_key_index_ < port_.p_keys.size()) packet.set(Bth::p_key, port_.p_keys[p_key_index_]);
    if (rules.on_send) rules.on_send(packet);
    node_.hca().send(packet.build(), queue_pair_);
}
void Interface::transmit_mad(build::PacketBuilder& packet) {
    packet.choose(Bth::psn, node_.hca().next_gsi_psn());
    node_.hca().send(packet.build());
}

void Interface::transmit_frame(const fabric::Frame& frame) {
    if (is_running_) node_.hca().send(frame);
}

bool Interface::attach(const Group& group) { return node_.hca().attach(*queue_pair_, group.mgid, group.mlid); }
void Interface::detach(const Group& group) {
    if (queue_pair_) node_.hca().detach(*queue_pair_, group.mgid, group.mlid);
}

fabric::QueuePair* Interface::create_queue_pair(bool is_requester, std::size_t receive_mtu) {
    return node_.hca().create(0, link_.p_key, [this, is_requester, receive_mtu](const fabric::Datagram& datagram) {
        receive_over_connection(*datagram.packet, is_requester, receive_mtu);
    });
}
void Interface::destroy_queue_pair(fabric::QueuePair* queue_pair) { node_.hca().destroy(queue_pair); }

std::uint32_t Interface::next_communication_id() noexcept { return node_.next_communication_id(); }

}  // namespace ipoib::stack
