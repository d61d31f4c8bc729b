// SPDX-License-Identifier: GPL-2.0-or-later
// What IPoIB packets tell: who uses which group, which link-layer addresses are announced, what IP listens to.
#include "protocol/state/subnet.hpp"
#include "protocol/wire/igmp.hpp"
#include "protocol/wire/mgid.hpp"
#include "protocol/wire/mld.hpp"
#include "protocol/wire/nd_option.hpp"

#include <algorithm>

namespace ipoib::state {
using namespace wire;

namespace {

/// Keeps the latest numbers, each once. False where this was the latest.
bool keep(std::array<std::uint32_t, 4>& numbers, std::uint8_t& count, std::uint32_t number) {
    if (count != 0 && numbers[count - 1u] == number) return false;
    const auto end = numbers.begin() + count;
    const auto found = std::find(numbers.begin(), end, number);
    if (found != end)
        std::rotate(found, found + 1, end);
    else if (count == numbers.size())
        std::rotate(numbers.begin(), numbers.begin() + 1, numbers.end());
    else
        ++count;
    numbers[count - 1u] = number;
    return true;
}

/// Multicast IP addresses that no IB group stands for. RFC 4291, 2.7: interface-local ones never leave the node.
bool stays_in_node(const Gid& group) { return !group.is_multicast() || (group.octets[1] & 0x0f) <= 1; }

/// Each node is in that of its link, whose MGID those of wider scopes share, and reports it never. RFC 3810, 6.
bool is_all_nodes(const Gid& group) { return group.interface_id() == 1 && (group.prefix() & 0xffffffffffff) == 0; }

/// An interface that listens to an IP group.
std::uint32_t listener_hash(std::uint32_t qpn, const Gid& ip_group) {
    std::uint32_t hash = (0x811c9dc5u ^ qpn) * 0x01000193u;
    for (const auto octet : ip_group.octets) hash = (hash ^ octet) * 0x01000193u;
    return hash;
}

}  // namespace

void Subnet::take_data(const Packet& packet, bool is_tester) {
    if (packet.has(Part::connected)) {
        known_.receiver = packet.lrh ? ports_.get(ports_.find(packet.lrh[Lrh::dlid])) : nullptr;
        return;
    }
    if (!packet.bth) {
        find_speaker(packet);
        announcements(packet);
        return;
    }
    known_.link = &links_[link_of_packet(packet, is_tester)];
    if (sender_ != none && is_sender_certain_ && !ports_[sender_].first_ipoib) ports_[sender_].first_ipoib = known_.now;
    find_speaker(packet);
    if (!is_tester && packet.is_multicast && packet.grh && is_broadcast_gid(packet.grh[Grh::dgid])) uses_q_key(packet);
    if (packet.is_multicast) {
        if (packet.grh && packet.grh[Grh::dgid].is_multicast() && packet.lrh) {
            const auto mgid = packet.grh[Grh::dgid];
            const auto mlid = std::size_t{packet.lrh[Lrh::dlid] & 0x3fffu};
            if (mlid >= group_by_mlid_.size()) group_by_mlid_.resize(2 * mlid + 1, none);
            auto& last = group_by_mlid_[mlid];
            if (last == none || groups_[last].mgid != mgid) last = group_of(mgid);
            to_group(packet, last, is_tester);
            if (packet.mgid) redirected(packet);
            if (packet.ipv4 || packet.ipv6) known_.neighbour = neighbours_.get(neighbour_of_destination(packet));
        }
    } else {
        towards(packet);
    }
    solicitations(packet);
    if (!is_link_certain_ && source_ && source_->link != 0) {
        known_.link = &links_[source_->link];
        is_link_certain_ = true;
    }
    announcements(packet);
    group_reports(packet);
    router_speaks(packet);
}

/// What the IP destination, or who is asked by ARP, has announced, by index.
std::uint32_t Subnet::neighbour_of_destination(const Packet& packet) const {
    if (packet.ipv4) return neighbours_.find(on_link(mapped(packet.ipv4[Ipv4::destination])));
    if (packet.ipv6) return neighbours_.find(on_link(packet.ipv6[Ipv6::destination]));
    return packet.arp_addresses ? neighbours_.find(on_link(mapped(packet.arp_addresses[ArpAddresses::tpa]))) : none;
}

/// The first two ports that send to a broadcast-GID with the same Q_Key, without one that contradicts them before.
void Subnet::uses_q_key(const Packet& packet) {
    const auto index = index_of(known_.link);
    if (index == 0 || !packet.deth || !is_sender_certain_) return;
    auto& link = links_[index];
    auto& [first, second] = link.q_key_users;
    const bool is_the_same = packet.deth[Deth::q_key] == link.q_key_in_use;
    renews_q_key_ = is_the_same && (sender_ == first || sender_ == second);
    if (renews_q_key_) link.q_key_used = known_.now;
    if (const auto own = link.group == none ? none : member_of(link.group, sender_); own != none) {
        auto& since = members_[own].odd_q_key;
        const bool is_odd = !is_the_same && first != none;
        if (is_odd != static_cast<bool>(since)) {
            since = is_odd ? known_.now : Sight{};
            change();
        }
    }
    if (first == none) {
        change();
        first = sender_;
        link.q_key_in_use = packet.deth[Deth::q_key];
    } else if (second == none && first != sender_) {
        // Of two that differ nobody can tell which is right.
        const bool agrees = packet.deth[Deth::q_key] == link.q_key_in_use;
        (agrees ? second : first) = agrees ? sender_ : none;
        change();
    }
}

/// Who has announced the IP source, for what is asked of that: an address may be of a host beyond a router.
void Subnet::find_speaker(const Packet& packet) {
    constexpr std::uint16_t dhcp_server = 67;
    const bool is_asked = packet.icmpv6 || packet.icmp || (packet.udp && packet.udp[Udp::destination] == dhcp_server);
    if (!is_asked) return;
    const auto source = packet.ipv4 ? mapped(packet.ipv4[Ipv4::source]) : packet.ipv6[Ipv6::source];
    known_.speaker = neighbours_.get(neighbours_.find(on_link(source)));
}

/// The link of an IPoIB packet. What a queue pair sends to a link's groups, or answers to what was asked there, makes
/// it an interface of that link; of another one it is not known which of a partition's links it is on.
std::uint32_t Subnet::link_of_packet(const Packet& packet, bool is_tester) {
    const auto p_key = packet.bth[Bth::p_key];
    const bool names_group = packet.grh && has_ipoib_signature(packet.grh[Grh::dgid]);
    const auto mgid = names_group ? packet.grh[Grh::dgid] : Gid{};
    const bool is_right = names_group && is_same_partition(mgid_of(mgid)[Mgid::p_key], p_key);
    if (source_) {
        set(source_->sends_ipoib, source_->sends_ipoib || names_group);
        if (source_->p_key == 0 && p_key != 0) {
            source_->p_key = p_key;
            change(*source_);
        }
        if (is_right && source_->add(p_key)) change();
    }
    const bool is_bound = source_ && source_->link != 0 && is_same_partition(links_[source_->link].p_key, p_key);
    if (is_bound && is_right && has_gone_to(mgid)) bind(source_, link_with(mgid));
    if (is_bound) {
        is_link_certain_ = true;
        return source_->link;
    }
    if (!is_right) return only_link(p_key, packet);
    const auto index = is_tester && is_broadcast_gid(mgid) ? link_of(p_key) : link_of_group(mgid);
    is_link_certain_ = index != 0;
    auto& link = links_[index];
    bind(source_, index);
    if (index != 0 && !is_tester && is_broadcast_gid(mgid) && !link.broadcast_gid && !link.is_disputed) {
        change();
        link.broadcast_gid = mgid;
        link.group = group_of(mgid);
    }
    return index;
}

/// Whether the sender has asked to be on another link of its partition, that of this group's scope.
bool Subnet::has_gone_to(const Gid& mgid) const {
    const auto index = link_with(mgid);
    const auto& link = links_[index];
    if (index == 0 || index == source_->link || link.group == none || !link.has_scope) return false;
    const auto* there = member(link.group, sender_);
    return there && there->asked != 0;
}

/// As long as the scope of no broadcast-GID is known, another group's does not tell which link it is.
void Subnet::bind(QueuePair* queue_pair, std::uint32_t link) {
    if (!queue_pair || link == 0 || queue_pair->qpn <= 1 || queue_pair->link == link) return;
    if (!links_[link].has_scope) return;
    change(*queue_pair);
    queue_pair->link = link;
    queue_pair->link_since = known_.now;
}

/// A packet to an IP group that goes to another MGID than the group's own.
void Subnet::redirected(const Packet& packet) {
    const auto p_key = packet.mgid[Mgid::p_key];
    const auto scope = packet.mgid[Mgid::scope];
    Gid own;
    if (packet.ipv4 && packet.ipv4[Ipv4::destination] >> 28 == 0xe)
        own = mgid_for_ipv4(packet.ipv4[Ipv4::destination], p_key, scope);
    else if (packet.ipv6 && packet.ipv6[Ipv6::destination].is_multicast())
        own = mgid_for_ipv6(packet.ipv6[Ipv6::destination], p_key, scope);
    if (own.is_zero() || own == packet.grh[Grh::dgid]) return;
    if (const auto group = groups_.find(own); group != none) known_.meant = member(group, sender_);
}

void Subnet::to_group(const Packet& packet, GroupIndex index, bool is_tester) {
    group_ = index;
    if (index == none) return;
    auto& group = groups_[index];
    if (!group.first && !is_tester && packet.deth)
        group.used = {.mgid = group.mgid,
                      .q_key = packet.deth[Deth::q_key],
                      .flow_label = packet.grh[Grh::flow_label],
                      .mlid = packet.lrh[Lrh::dlid],
                      .p_key = static_cast<std::uint16_t>(packet.bth[Bth::p_key] | full_membership),
                      .sl = packet.lrh[Lrh::sl],
                      .traffic_class = packet.grh[Grh::traffic_class],
                      .hop_limit = packet.grh[Grh::hop_limit]};
    if (!group.first) group.first = known_.now;
    member_ = member_of(index, sender_);
    auto* member = member_ == none ? nullptr : &members_[member_];
    // Who has given up a subscription sends for the first time again.
    const bool is_first =
        member && (member->sent == 0 || std::max(member->unsubscribed.order, requester(sender_).unsubscribed.order) >
                                            member->last_sent.order);
    sends(group, member);
    if (is_first && index != known_.link->group) tell(EventKind::first_sent, sender_, index);
}

/// One more packet to a group. All that it changes are times and counts.
void Subnet::sends(Group& group, Member* member) {
    group.last = known_.now;
    ++group.packets;
    if (!member) return;
    if (!member->first_sent) member->first_sent = known_.now;
    member->last_sent = known_.now;
    member->sent_by = source_ ? source_->qpn : 0;
    ++member->sent;
    if (member->sent_since_request < 2) ++member->sent_since_request;
    if (member->joined == 0 && member->sent_unjoined++ == 0) member->first_unjoined = known_.now;
}

/// The port that has this LID, maybe as one of several by its LMC.
PortIndex Subnet::port_at(std::uint16_t lid) const {
    constexpr unsigned most_lmc = 7;
    auto found = ports_.find(lid);
    for (unsigned lmc = 1; found == none && lmc <= most_lmc; ++lmc) {
        const auto base = ports_.find(static_cast<std::uint16_t>(lid >> lmc << lmc));
        if (base != none && ports_.get(base)->lmc >= lmc) found = base;
    }
    return found;
}

/// A unicast packet's receiver, and what is known of the way to it. The IP destination tells nothing of the next hop
/// alone: any node may be a router.
void Subnet::towards(const Packet& packet) {
    if (!packet.lrh) return;
    const auto dlid = packet.lrh[Lrh::dlid];
    const auto dest_qp = packet.bth[Bth::dest_qp];
    known_.receiver = ports_.get(port_at(dlid));
    known_.destination = queue_pair({dlid, dest_qp});
    const auto* at = known_.receiver;
    const bool is_by_lmc = at && at->lid != dlid && at->lmc != 0 && at->lid >> at->lmc == dlid >> at->lmc;
    if (!known_.destination && is_by_lmc) known_.destination = queue_pair({at->lid, dest_qp});
    if (const auto found = neighbour_of_destination(packet); found != none) {
        auto& neighbour = neighbours_[found];
        known_.neighbour = &neighbour;
        if (neighbour.port == none) set(neighbour.port, ports_.find(neighbour.gid));
        known_.target = ports_.get(neighbour.port);
        const QpAddress sender{packet.lrh[Lrh::slid], packet.deth ? packet.deth[Deth::src_qp] : 0};
        // Who has used the new address once has been told of it.
        if (neighbour.renewed && dest_qp == neighbour.qpn()) is_informed(found, sender);
        known_.informed = informed(found, sender);
    }
    if (paths_.all().empty()) return;
    if (const auto there = path_by_dlid_[dlid]; there != 0) known_.path_there = &paths_[there - 1];
    if (known_.neighbour)
        known_.neighbour_path = paths_.get(paths_.find({known_.neighbour->gid, packet.lrh[Lrh::slid]}));
    // The way leads to the port that the packet names: by its GRH, by the queue pair, by the address that it is for.
    Gid gid = packet.grh ? local_form(packet.grh[Grh::dgid]) : Gid{};
    const auto* owner = known_.destination ? ports_.get(known_.destination->port) : nullptr;
    if (gid.is_zero() && owner && known_.destination->is_announced) gid = owner->gid;
    if (gid.is_zero() && !owner && known_.neighbour && known_.neighbour->has(dest_qp)) gid = known_.neighbour->gid;
    if (gid.is_zero()) return;
    known_.path = paths_.get(paths_.find({gid, packet.lrh[Lrh::slid]}));
    known_.path_target = ports_.get(ports_.find(gid));
}

/// A datagram to an interface's own queue pair that is nothing known: its fault may have made it so.
void Subnet::to_interface(const Packet& packet) {
    if (!packet.lrh || packet.is_multicast) return;
    const auto dlid = packet.lrh[Lrh::dlid];
    const auto* to = queue_pair({dlid, packet.bth[Bth::dest_qp]});
    if (!to || !to->is_announced || to->link == 0) return;
    if (!is_same_partition(links_[to->link].p_key, packet.bth[Bth::p_key])) return;
    known_.destination = to;
    known_.receiver = ports_.get(ports_.find(dlid));
    known_.link = &links_[to->link];
    is_link_certain_ = true;
}

namespace {

/// Whether who has another address of the sender takes this one over. RFC 826; RFC 4861, 7.2.5.
bool overrides(const Packet& packet) {
    constexpr std::uint32_t override_flag = 0x20000000;
    if (!packet.icmpv6 || packet.icmpv6[Icmpv6::type] != Icmpv6Type::neighbour_advertisement) return true;
    return (packet.icmpv6[Icmpv6::body] & override_flag) != 0;
}

}  // namespace

void Subnet::announce(const Packet& packet, const Gid& address, const Gid& announced, std::uint32_t qpn,
                      std::uint8_t flags) {
    if (announced.is_zero() || announced.is_multicast()) return;
    const auto gid = local_form(announced);
    auto port = ports_.find(gid);
    const auto slid = packet.lrh ? packet.lrh[Lrh::slid] : std::uint16_t{0};
    const auto place = port != none && ports_[port].lid != 0 ? ports_[port].lid : slid;
    if (port != none && keep(ports_[port].qpns, ports_[port].qpn_count, qpn)) change();
    if (auto* announces = is_local(announced) ? queue_pair_of({place, qpn}) : nullptr) {
        set(announces->is_announced, true);
        set(announces->is_doubtful, false);
        announces->given_back_by = none;
        announces->announced = known_.now;
        // An answer in another partition than its question is none that this queue pair can have heard there.
        const bool is_astray = known_.answers && !known_.answers->is_in_several && packet.bth &&
                               !is_same_partition(known_.answers->p_key, packet.bth[Bth::p_key]);
        if (packet.bth && !is_astray && announces->add(packet.bth[Bth::p_key])) change();
        if (port != none) belongs_to(*announces, port);
        if (is_link_certain_ && announces->link == 0) bind(announces, index_of(known_.link));
        if (flags != 0) set(announces->flags_since, true);
    }
    if (address.is_zero()) return;
    const auto index = neighbours_.find_or_add(on_link(address));
    if (index == none) return;
    auto& neighbour = neighbours_[index];
    // Two interfaces that answer for one address do so at once, and whose answer counts is up to the asker.
    constexpr std::int64_t at_once = 2'000'000'000;  // ns
    const bool is_at_once = known_.now.steady - neighbour.announced.steady < at_once;
    if (neighbour.announced && neighbour.gid != gid) {
        change();
        neighbour.is_contested |= neighbour.before == gid || is_at_once || !overrides(packet);
        // What has moved has none of its queue pairs there.
        if (!neighbour.is_contested) neighbour.qpn_count = 0;
        neighbour.is_shared = true;
        neighbour.before = neighbour.gid;
        neighbour.changed = neighbour.renewed = known_.now;
    }
    // An interface has one queue pair for datagrams: that of before is given back. RFC 4755, 3.1.
    const auto before = neighbour.qpn_count != 0 ? neighbour.qpn() : qpn;
    if (neighbour.gid == gid && before != qpn) {
        if (auto* given_back = queue_pair_of({place, before})) {
            set(given_back->is_doubtful, true);
            given_back->given_back_by = index;
        }
        neighbour.alternates |= neighbour.has(qpn) || is_at_once || !overrides(packet);
        neighbour.renewed = known_.now;
        change();
    }
    neighbour.address = address;
    neighbour.p_key = known_.link ? known_.link->p_key : std::uint16_t{0};
    set(neighbour.gid, gid);
    set(neighbour.port, port);
    neighbour.announced = known_.now;
    neighbour.announced_by = source_ ? source_->qpn : qpn;
    if (keep(neighbour.qpns, neighbour.qpn_count, qpn)) change();
    if (packet.lrh && packet.bth && !packet.is_multicast)
        is_informed(index, {packet.lrh[Lrh::dlid], packet.bth[Bth::dest_qp]});
}

const Informed* Subnet::informed(std::uint32_t neighbour, QpAddress interface) const {
    const auto* found = informed_.get(informed_.find(informed_key(neighbour, interface)));
    return found && found->at.order >= neighbours_[neighbour].renewed.order ? found : nullptr;
}

void Subnet::is_informed(std::uint32_t neighbour, QpAddress interface) {
    const auto index = informed_.find_or_add(informed_key(neighbour, interface));
    if (index == none) return;
    auto& informed = informed_[index];
    // Of the present address, the first time: that begins the time to take it over.
    if (informed.at && informed.at.order >= neighbours_[neighbour].renewed.order) return;
    informed.at = known_.now;
    change();
}

/// Nobody has the address of its sender yet. RFC 4862, 5.4.2.
void Subnet::address_test(const Packet& packet) {
    if (!packet.nd_target || !packet.ipv6[Ipv6::source].is_zero()) return;
    const auto index = neighbours_.find_or_add(on_link(packet.nd_target[NdTarget::target]));
    if (index == none) return;
    neighbours_[index].address = packet.nd_target[NdTarget::target];
    neighbours_[index].tested = known_.now;
}

void Subnet::names_itself(const Packet& packet, const Gid& gid) {
    known_.named = ports_.get(ports_.find(local_form(gid)));
    const auto* there = packet.lrh ? ports_.get(ports_.find(packet.lrh[Lrh::slid])) : nullptr;
    if (there && there->former_prefix != 0 && gid == Gid::of(there->former_prefix, there->gid.interface_id()))
        known_.keeps_prefix = there;
}

/// Link-layer addresses in ARP and Neighbour Discovery, each of the port that speaks of itself.
void Subnet::announcements(const Packet& packet) {
    if (packet.arp_addresses) {
        const auto& arp = packet.arp_addresses;
        const auto ip = arp[ArpAddresses::spa];
        names_itself(packet, arp[ArpAddresses::sha_gid]);
        announce(packet, ip ? mapped(ip) : Gid{}, arp[ArpAddresses::sha_gid], arp[ArpAddresses::sha_qpn],
                 arp[ArpAddresses::sha_flags]);
    }
    if (!packet.icmpv6) return;
    if (const auto gid = own_gid(packet); !gid.is_zero()) names_itself(packet, gid);
    const auto tell = [&](const Gid& address, View<LinkAddressOption> option) {
        announce(packet, address, option[LinkAddressOption::gid], option[LinkAddressOption::qpn],
                 option[LinkAddressOption::flags]);
    };
    const auto type = packet.icmpv6[Icmpv6::type];
    if (type == Icmpv6Type::neighbour_solicitation) address_test(packet);
    if (packet.source_option && takes_source_option(type)) tell(packet.ipv6[Ipv6::source], packet.source_option);
    if (packet.target_option && packet.nd_target && takes_target_option(type))
        tell(packet.nd_target[NdTarget::target], packet.target_option);
}

namespace {

/// What only routers send: queries for listeners, advertisements of themselves, and routing protocols.
bool is_of_router(const Packet& packet) {
    constexpr std::uint8_t dvmrp = 0x13, router_advertisement_of_ipv4 = 9;
    constexpr IpProtocol ospf{89}, pim{103};
    constexpr std::uint16_t rip = 520, rip_of_ipv6 = 521;
    if (packet.is_fragment || !(packet.ipv4 || packet.ipv6)) return false;
    if (packet.ip_protocol == ospf || packet.ip_protocol == pim) return true;
    if (packet.udp) return packet.udp[Udp::source] == rip || packet.udp[Udp::source] == rip_of_ipv6;
    if (packet.icmp) return packet.icmp[Icmp::type] == router_advertisement_of_ipv4;
    if (packet.icmpv6)
        return packet.icmpv6[Icmpv6::type] == Icmpv6Type::router_advertisement ||
               static_cast<std::uint8_t>(packet.icmpv6[Icmpv6::type]) == mld_type::query;
    if (packet.ip_protocol != IpProtocol::igmp) return false;
    const auto igmp = View<Igmp>::at(packet.ip_payload);
    return igmp && (igmp[Igmp::type] == igmp_type::query || igmp[Igmp::type] == dvmrp);
}

}  // namespace

void Subnet::router_speaks(const Packet& packet) {
    if (sender_ == none || !is_sender_certain_ || ports_[sender_].speaks_as_router || !is_of_router(packet)) return;
    ports_[sender_].speaks_as_router = true;
    change();
    becomes_router(sender_);
}

/// Of several interfaces of one port each may listen, to each of the IP groups that the MGID stands for: it stops when
/// none does.
void Subnet::listens(const Gid& mgid, const Gid& ip_group, bool joins) {
    const auto group = group_of(mgid);
    const auto index = member_of(group, sender_);
    if (index == none || !is_sender_certain_) return;
    auto& member = members_[index];
    const auto listener = listener_hash(source_ ? source_->qpn : 0, ip_group);
    const auto end = member.listeners.begin() + member.listener_count;
    const auto found = std::find(member.listeners.begin(), end, listener);
    if (joins && found == end) {
        if (member.listener_count == member.listeners.size())
            member.has_more_listeners = true;
        else
            member.listeners[member.listener_count++] = listener;
    } else if (!joins && found != end) {
        std::rotate(found, found + 1, end);
        --member.listener_count;
    }
    const bool listens = member.listener_count != 0 || member.has_more_listeners;
    if (member.listens == listens) return;
    change();
    member.listens = listens;
    tell(listens ? EventKind::listens : EventKind::stops_listening, sender_, group);
}

void Subnet::group_reports(const Packet& packet) {
    const auto& link = *known_.link;
    if (!link.broadcast_gid || packet.is_fragment || sender_ == none) return;
    const auto scope = mgid_of(*link.broadcast_gid)[Mgid::scope];
    const auto of_v4 = [&](std::uint32_t group, bool joins) {
        if (group >> 28 == 0xe) listens(mgid_for_ipv4(group, link.p_key, scope), mapped(group), joins);
    };
    const auto of_v6 = [&](const Gid& group, bool joins) {
        if (stays_in_node(group) || (!joins && is_all_nodes(group))) return;
        listens(mgid_for_ipv6(group, link.p_key, scope), group, joins);
    };
    // A filter that lets sources in is a membership; one that was emptied ends it. RFC 3376, 4.2.12.
    const auto by_record = [](std::uint8_t type, std::size_t sources, auto&& say) {
        const bool adds = type == group_record::allow && sources != 0;
        if (adds || type == group_record::is_exclude || type == group_record::to_exclude)
            say(true);
        else if (type == group_record::to_include || type == group_record::is_include)
            say(sources != 0);
    };
    if (packet.ipv4 && packet.ip_protocol == IpProtocol::igmp) {
        if (const auto igmp = View<Igmp>::at(packet.ip_payload)) {
            const auto type = igmp[Igmp::type];
            if (type == igmp_type::report_v1 || type == igmp_type::report_v2) of_v4(igmp[Igmp::group], true);
            if (type == igmp_type::leave) of_v4(igmp[Igmp::group], false);
            if (type == igmp_type::report_v3)
                for_each_igmp_record(packet.ip_payload, [&](View<IgmpRecord> record, Octets) {
                    by_record(record[IgmpRecord::type], record[IgmpRecord::number_of_sources],
                              [&](bool joins) { of_v4(record[IgmpRecord::group], joins); });
                });
        }
    } else if (packet.icmpv6) {
        const auto type = static_cast<std::uint8_t>(packet.icmpv6[Icmpv6::type]);
        if (type == mld_type::report_v2) {
            for_each_mld_record(packet.ip_payload, [&](View<MldRecord> record, Octets) {
                by_record(record[MldRecord::type], record[MldRecord::number_of_sources],
                          [&](bool joins) { of_v6(record[MldRecord::group], joins); });
            });
        } else if (type == mld_type::report_v1 || type == mld_type::done) {
            if (const auto mld = View<Mld>::at(packet.ip_payload)) of_v6(mld[Mld::group], type == mld_type::report_v1);
        }
    }
}

}  // namespace ipoib::state
