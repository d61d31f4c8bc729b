// SPDX-License-Identifier: GPL-2.0-or-later
// What IPoIB packets tell: who uses which group, which link-layer addresses are announced, what IP listens to.
#include "protocol/state/subnet.hpp"
#include "protocol/wire/igmp.hpp"
#include "protocol/wire/mgid.hpp"
#include "protocol/wire/mld.hpp"

#include <algorithm>

namespace ipoib::state {
using namespace wire;

namespace {

Gid mapped(std::uint32_t ipv4) { return Gid::of(0, std::uint64_t{0xffff} << 32 | ipv4); }

/// Keeps the latest numbers, each once.
void remember(std::array<std::uint32_t, 4>& numbers, std::uint8_t& count, std::uint32_t number) {
    const auto end = numbers.begin() + count;
    const auto found = std::find(numbers.begin(), end, number);
    if (found != end)
        std::rotate(found, found + 1, end);
    else if (count == numbers.size())
        std::rotate(numbers.begin(), numbers.begin() + 1, numbers.end());
    else
        ++count;
    numbers[count - 1u] = number;
}

/// Multicast IP addresses that no IB group stands for. RFC 4291, 2.7: interface-local ones never leave the node.
bool stays_in_node(const Gid& group) { return !group.is_multicast() || (group.octets[1] & 0x0f) <= 1; }

}  // namespace

void Subnet::take_data(const Packet& packet, bool is_tester) {
    if (!packet.bth || packet.has(Part::connected)) {
        if (packet.bth) known_.receiver = packet.lrh ? ports_.get(ports_.find(packet.lrh[Lrh::dlid])) : nullptr;
        return;
    }
    auto& link = links_[link_of(packet.bth[Bth::p_key])];
    known_.link = &link;
    if (!is_tester && packet.grh && !link.is_disputed && is_broadcast_gid(packet.grh[Grh::dgid])) {
        const auto dgid = packet.grh[Grh::dgid];
        const bool is_inferred = !link.broadcast;
        if (link.broadcast_gid && *link.broadcast_gid != dgid && is_inferred) {
            link.is_disputed = true;
            link.broadcast_gid.reset();
            link.broadcast.reset();
            link.told = 0;
            ++doubts_.disputes;
        } else if (!link.broadcast_gid) {
            link.broadcast_gid = dgid;
            link.group = group_of(dgid);
        }
    }
    if (sender_ != none && !ports_[sender_].first_ipoib) ports_[sender_].first_ipoib = known_.now;
    if (packet.is_multicast) {
        if (packet.grh && packet.grh[Grh::dgid].is_multicast() && packet.lrh) {
            const auto mgid = packet.grh[Grh::dgid];
            auto& last = group_by_mlid_[packet.lrh[Lrh::dlid] & 0x3fff];
            if (last == none || groups_[last].mgid != mgid) last = group_of(mgid);
            to_group(packet, last, is_tester);
        }
    } else {
        towards(packet);
    }
    solicitations(packet);
    announcements(packet);
    group_reports(packet);
    uses(packet);
}

/// The queue pairs that a port sends from, and their partition.
void Subnet::uses(const Packet& packet) {
    if (sender_ == none || !packet.deth) return;
    auto& port = ports_[sender_];
    const auto qpn = packet.deth[Deth::src_qp];
    for (std::uint8_t i = 0; i < port.qp_count; ++i)
        if (port.qps[i].qpn == qpn) return;
    if (port.qp_count < port.qps.size()) port.qps[port.qp_count++] = {qpn, packet.bth[Bth::p_key]};
}

namespace {

std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
    const auto key = KeyHash{}(a * 0xff51afd7ed558ccdu + b);
    return key ? key : 1;
}
std::uint64_t mixed(const Gid& a, const Gid& b) { return mixed(KeyHash{}(a), KeyHash{}(b)); }

/// What an answer has in common with its question: addresses, and the number of an echo. Key 0: neither.
struct Dialogue {
    std::uint64_t key = 0;
    bool asks = false;
};
Dialogue dialogue_of(const Packet& p) {
    if (p.arp_addresses) {
        const auto sender = p.arp_addresses[ArpAddresses::spa], target = p.arp_addresses[ArpAddresses::tpa];
        const auto operation = p.arp[Arp::operation];
        if (operation == Arp::request && sender != target) return {mixed(sender, target), true};
        if (operation == Arp::reply && sender != target) return {mixed(target, sender), false};
    } else if (p.ipv4 && p.icmp && !p.is_fragment && p.ip_payload.size() >= 8) {
        const auto number = read_bits(p.ip_payload.data() + 4, {0}, 32);
        const auto source = p.ipv4[Ipv4::source], destination = p.ipv4[Ipv4::destination];
        if (p.ip_payload[0] == 8) return {mixed(mixed(source, destination), number), true};
        if (p.ip_payload[0] == 0) return {mixed(mixed(destination, source), number), false};
    } else if (p.ipv6 && p.icmpv6 && p.nd_target) {
        const auto type = p.icmpv6[Icmpv6::type];
        if (type == Icmpv6Type::neighbour_solicitation && !p.ipv6[Ipv6::source].is_zero())
            return {mixed(p.ipv6[Ipv6::source], p.nd_target[NdTarget::target]), true};
        if (type == Icmpv6Type::neighbour_advertisement)
            return {mixed(p.ipv6[Ipv6::destination], p.nd_target[NdTarget::target]), false};
    }
    return {};
}

}  // namespace

/// Questions of IP, and the packets that answer them.
void Subnet::solicitations(const Packet& packet) {
    const auto dialogue = dialogue_of(packet);
    if (dialogue.key == 0 || !packet.deth) return;
    auto& place = solicitations_[dialogue.key % solicitations_.size()];
    if (!dialogue.asks) {
        if (place.key == dialogue.key) known_.answers = &place;
        return;
    }
    const auto& link = *known_.link;
    const bool is_wrong = (link.told & facts(Fact::q_key)) && packet.deth[Deth::q_key] != link.broadcast->q_key;
    // A question that was right, and sent to one port alone, explains the answer whatever else was asked.
    const Solicitation question{dialogue.key, group_, is_wrong, known_.now};
    const auto explains = [](const Solicitation& one) {
        return (one.has_wrong_key ? 0 : 2) + (one.group == none ? 1 : 0);
    };
    constexpr std::int64_t patience = 10'000'000'000;  // ns
    const bool is_asked_again = place.key == dialogue.key && elapsed(place.sent.time, known_.now.time) < patience;
    if (!is_asked_again || explains(question) >= explains(place)) place = question;
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
                      .p_key = static_cast<std::uint16_t>(packet.bth[Bth::p_key] | full_member),
                      .sl = packet.lrh[Lrh::sl],
                      .traffic_class = packet.grh[Grh::traffic_class],
                      .hop_limit = packet.grh[Grh::hop_limit]};
    if (!group.first) group.first = known_.now;
    group.last = known_.now;
    ++group.packets;
    member_ = member_of(index, sender_);
    if (member_ == none) return;
    auto& member = members_[member_];
    if (!member.first_sent) member.first_sent = known_.now;
    member.last_sent = known_.now;
    ++member.sent;
    if (member.sent_since_request < 2) ++member.sent_since_request;
    if (member.joined == 0) {
        if (member.sent_unjoined++ == 0) member.first_unjoined = known_.now;
    }
    if (member.sent == 1 && index != known_.link->group) tell(EventKind::first_sent, sender_, index);
}

/// A unicast packet's receiver, and what is known of the way to it.
void Subnet::towards(const Packet& packet) {
    if (!packet.lrh) return;
    known_.receiver = ports_.get(ports_.find(packet.lrh[Lrh::dlid]));
    std::uint32_t found = none;
    if (packet.ipv4)
        found = neighbours_.find(on_link(mapped(packet.ipv4[Ipv4::destination])));
    else if (packet.ipv6)
        found = neighbours_.find(on_link(packet.ipv6[Ipv6::destination]));
    else if (packet.arp_addresses)
        found = neighbours_.find(on_link(mapped(packet.arp_addresses[ArpAddresses::tpa])));
    if (found != none) {
        auto& neighbour = neighbours_[found];
        known_.neighbour = &neighbour;
        if (neighbour.port == none) neighbour.port = ports_.find(neighbour.gid);
        known_.target = ports_.get(neighbour.port);
    }
    if (paths_.all().empty()) return;
    // The way leads to a port, which the GRH names if there is one, else what ARP or ND has told, else the LID.
    Gid gid = packet.grh ? packet.grh[Grh::dgid] : known_.neighbour ? known_.neighbour->gid : Gid{};
    if (gid.is_zero() && known_.receiver) gid = known_.receiver->gid;
    if (sender_ != none && !gid.is_zero())
        known_.path = paths_.get(paths_.find({sender_ ^ gid.prefix(), gid.interface_id()}));
}

void Subnet::announce(const Gid& address, const Gid& gid, std::uint32_t qpn) {
    if (gid.is_zero() || gid.is_multicast()) return;
    const auto port = ports_.find(gid);
    if (port != none) remember(ports_[port].qpns, ports_[port].qpn_count, qpn);
    if (address.is_zero()) return;
    const auto index = neighbours_.find_or_add(on_link(address));
    if (index == none) return;
    auto& neighbour = neighbours_[index];
    if (neighbour.announced && neighbour.gid != gid) neighbour.is_shared = true;
    neighbour.address = address;
    neighbour.gid = gid;
    neighbour.port = port;
    neighbour.announced = known_.now;
    remember(neighbour.qpns, neighbour.qpn_count, qpn);
}

/// Link-layer addresses in ARP and Neighbour Discovery, each of the port that speaks of itself.
void Subnet::announcements(const Packet& packet) {
    if (packet.arp_addresses) {
        const auto& arp = packet.arp_addresses;
        const auto ip = arp[ArpAddresses::spa];
        known_.named = ports_.get(ports_.find(arp[ArpAddresses::sha_gid]));
        announce(ip ? mapped(ip) : Gid{}, arp[ArpAddresses::sha_gid], arp[ArpAddresses::sha_qpn]);
    }
    if (!packet.icmpv6) return;
    if (packet.source_option)
        announce(packet.ipv6[Ipv6::source], packet.source_option[LinkAddressOption::gid],
                 packet.source_option[LinkAddressOption::qpn]);
    if (packet.target_option && packet.nd_target)
        announce(packet.nd_target[NdTarget::target], packet.target_option[LinkAddressOption::gid],
                 packet.target_option[LinkAddressOption::qpn]);
}

void Subnet::listens(const Gid& mgid, bool joins) {
    const auto group = group_of(mgid);
    const auto index = member_of(group, sender_);
    if (index == none || members_[index].listens == joins) return;
    members_[index].listens = joins;
    tell(joins ? EventKind::listens : EventKind::stops_listening, sender_, group);
}

void Subnet::group_reports(const Packet& packet) {
    const auto& link = *known_.link;
    if (!link.broadcast_gid || packet.is_fragment || sender_ == none) return;
    const auto scope = mgid_of(*link.broadcast_gid)[Mgid::scope];
    const auto of_v4 = [&](std::uint32_t group, bool joins) {
        if (group >> 28 == 0xe) listens(mgid_for_ipv4(group, link.p_key, scope), joins);
    };
    const auto of_v6 = [&](const Gid& group, bool joins) {
        if (!stays_in_node(group)) listens(mgid_for_ipv6(group, link.p_key, scope), joins);
    };
    // A filter that lets sources in is a membership; one that was emptied ends it. RFC 3376, 4.2.12.
    const auto by_record = [](std::uint8_t type, std::size_t sources, auto&& say) {
        if (type == group_record::is_exclude || type == group_record::to_exclude || type == group_record::allow)
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
