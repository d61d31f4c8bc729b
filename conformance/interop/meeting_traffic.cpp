// SPDX-License-Identifier: GPL-2.0-or-later
// What two say to each other, as chains of frames.
#include "conformance/bench/case_ends.hpp"
#include "conformance/bench/series.hpp"
#include "conformance/interop/asking.hpp"
#include "conformance/interop/meeting.hpp"
#include "protocol/requirements/rfc4390.hpp"
#include "protocol/requirements/rfc4391.hpp"
#include "protocol/requirements/rfc4755.hpp"
#include "protocol/wire/cm.hpp"
#include "protocol/wire/dhcp_message.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ipoib::conformance::interop {
using namespace wire;
using namespace std::chrono_literals;

namespace {

constexpr unsigned attempts = 3;
/// What follows an answer: a duplicate, say.
constexpr auto between_looks_of_tap = 10ms;
constexpr std::uint16_t listening_port = 7411;
/// Of an IP packet where nobody tells: RFC 4391, 7.
constexpr std::size_t usual_mtu = 2044;

bool is_between(const Packet& p, const IpAddress& from, const IpAddress& to) {
    if (p.ipv4) return from.is_v4() && p.ipv4[Ipv4::source] == from.v4() && p.ipv4[Ipv4::destination] == to.v4();
    return p.ipv6 && p.ipv6[Ipv6::source] == from.octets && p.ipv6[Ipv6::destination] == to.octets;
}

/// That ends a packet: of fragments the one that all others come before.
bool is_last(const Packet& p) {
    if (!p.is_fragment) return false;
    if (p.ipv4) return p.ipv4[Ipv4::fragment_offset] != 0 && (p.ipv4[Ipv4::flags] & 1) == 0;
    return !p.icmpv6;
}

bool is_echo(const Packet& p, bool is_request) {
    if (p.icmp) return p.icmp[Icmp::type] == (is_request ? Icmp::echo_request : Icmp::echo_reply);
    const auto type = is_request ? Icmpv6Type::echo_request : Icmpv6Type::echo_reply;
    return p.icmpv6 && p.icmpv6[Icmpv6::type] == type;
}

bool is_nd(const Packet& p, Icmpv6Type type, const IpAddress& target) {
    return p.icmpv6 && p.icmpv6[Icmpv6::type] == type && p.nd_target && p.nd_target[NdTarget::target] == target.octets;
}

/// RFC 4861, 7.1: one that may have come over a router is dropped by everybody.
Astray from_beyond_link(const Packet& p) {
    constexpr std::uint8_t only_from_link = 255;
    if (!p.ipv6 || p.ipv6[Ipv6::hop_limit] == only_from_link) return {};
    return {fmt::format("its Hop Limit is {}, and what has not 255 is dropped", p.ipv6[Ipv6::hop_limit]),
            &rfc4391::ipv6_resolved_by_nd};
}

Astray or_else(Astray first, Astray second) { return first.why.empty() ? std::move(second) : std::move(first); }

bool is_cm(const Packet& p, std::initializer_list<std::uint16_t> messages) {
    return p.mad && p.mad[Mad::mgmt_class] == MgmtClass::communication &&
           std::ranges::find(messages, p.mad[Mad::attribute_id]) != messages.end();
}

std::string dhcp_name(DhcpType type) {
    for (const auto& [value, name] : dhcp_type_names)
        if (value == static_cast<std::uint8_t>(type)) return std::string(name);
    return "DHCP message";
}

}  // namespace

std::vector<Meeting::Announced> Meeting::announced(Side side) const {
    std::vector<Announced> all;
    Packet packet;
    for (auto i = anew_[side]; i < recorder_.size(); ++i) {
        recorder_.decode(i, packet);
        if (sender(packet) != side) continue;
        if (const auto& arp = packet.arp_addresses)
            all.push_back({i + 1, arp[ArpAddresses::sha_qpn], arp[ArpAddresses::sha_gid]});
        for (const auto& option : {packet.source_option, packet.target_option})
            if (option) all.push_back({i + 1, option[LinkAddressOption::qpn], option[LinkAddressOption::gid]});
    }
    return all;
}

Astray Meeting::astray_to(Side to, const Packet& packet) const {
    const auto& peer = peers_[to];
    if (packet.is_multicast || !packet.lrh) return {};
    if (const auto lid = packet.lrh[Lrh::dlid]; !peer.lids.contains(lid))
        return {fmt::format("it goes to LID {:#06x}, where {} is not", lid, name(to)), &rfc4391::lrh_targets_peer_lid};
    if (packet.has(Part::connected) || !packet.bth || !packet.deth) return {};
    if (const auto p_key = packet.bth[Bth::p_key]; ((p_key ^ link_.p_key) & ~full_membership) != 0)
        return {fmt::format("its P_Key is {:#06x}, that of the link {:#06x}", p_key, link_.p_key),
                &rfc4391::pkey_match};
    if (const auto q_key = packet.deth[Deth::q_key]; q_key != link_.q_key)
        return {fmt::format("its Q_Key is {:#010x}, that of the link {:#010x}", q_key, link_.q_key),
                &rfc4391::qkey_of_broadcast_group};
    const auto qpn = packet.bth[Bth::dest_qp];
    const auto all = announced(to);
    const bool is_announced = std::ranges::find(all, qpn, &Announced::qpn) != all.end();
    if (qpn != peer.qpn && !is_announced)
        return {fmt::format("it goes to queue pair {:#08x}, {} has {:#08x}", qpn, name(to), peer.qpn),
                &rfc4391::unicast_to_peer_qp};
    return {};
}

Astray Meeting::astray_to_group(Side from, const Gid& mgid, const Packet& packet) {
    constexpr std::uint8_t any = 0xf;
    if (!packet.is_multicast) return {};
    if (!packet.grh) return {"it has no GRH", &rfc4391::grh_on_multicast};
    if (const auto dgid = packet.grh[Grh::dgid]; dgid != mgid)
        return {fmt::format("it goes to {}, not to {}", text(dgid), text(mgid)), &rfc4391::mlid_as_dlid};
    if (!is_member(from, mgid, any))
        return {fmt::format("{} is no member of {}, so no switch takes it", name(from), text(mgid)),
                &rfc4391::sender_joins_first};
    const auto mlid = place_.mlid_of(mgid);
    if (const auto lid = packet.lrh ? packet.lrh[Lrh::dlid] : mlid; lid != mlid)
        return {fmt::format("it goes to MLID {:#06x}, the group has {:#06x}", lid, mlid), &rfc4391::mlid_as_dlid};
    if (const auto q_key = packet.deth ? packet.deth[Deth::q_key] : link_.q_key; q_key != link_.q_key)
        return {fmt::format("its Q_Key is {:#010x}, that of the link {:#010x}", q_key, link_.q_key),
                &rfc4391::qkey_of_broadcast_group};
    return {};
}

bool Meeting::can_be_solicited(Side side, const IpAddress& address) {
    const auto group = IpAddress::v6(solicited_node_group(address.octets));
    if (is_member(side, mgid_of(group), join_state::full_member)) return true;
    charge(side, rfc4391::receiver_full_member_join, 0,
           fmt::format("{} as FullMember of {}, where its address is solicited", name(side), text(group)),
           "it is none");
    return false;
}

std::vector<Leg> Meeting::resolution(Way way, const IpAddress& to) {
    const auto [from, answerer] = way;
    const auto arrives = [this, from = from](const Packet& p) { return astray_to(from, p); };
    if (to.is_v4()) {
        const auto is_arp = [to](std::uint16_t operation, const Field<ArpAddresses, std::uint32_t>& field) {
            return [=, &field](const Packet& p) {
                return p.arp_addresses && p.arp[Arp::operation] == operation && p.arp_addresses[field] == to.v4();
            };
        };
        return {
            {from, &rfc4391::ipv4_resolved_by_arp, "an ARP request for " + text(to),
             is_arp(Arp::request, ArpAddresses::tpa),
             [this, from = from, to](const Packet& p) {
                 if (p.arp_addresses[ArpAddresses::spa] == to.v4())
                     return Astray{"it comes from the address that it asks for", &rfc4391::ipv4_resolved_by_arp};
                 return p.is_multicast ? astray_to_group(from, link_.broadcast_gid(), p) : Astray{};
             }},
            {answerer, &rfc4391::ipv4_resolved_by_arp, "an ARP reply", is_arp(Arp::reply, ArpAddresses::spa), arrives}};
    }
    const auto is_of = [to](Icmpv6Type type) { return [=](const Packet& p) { return is_nd(p, type, to); }; };
    const auto mgid = mgid_of(IpAddress::v6(solicited_node_group(to.octets)));
    return {{from, &rfc4391::ipv6_resolved_by_nd, "a Neighbour Solicitation for " + text(to),
             is_of(Icmpv6Type::neighbour_solicitation),
             [this, from = from, mgid](const Packet& p) {
                 return or_else(from_beyond_link(p), astray_to_group(from, mgid, p));
             }},
            {answerer, &rfc4391::ipv6_resolved_by_nd, "a Neighbour Advertisement",
             is_of(Icmpv6Type::neighbour_advertisement),
             [arrives](const Packet& p) { return or_else(from_beyond_link(p), arrives(p)); }}};
}

/// Only where both announce it; a packet by datagram, which comes later, makes it unneeded.
std::vector<Leg> Meeting::connection(Way way) const {
    const auto is_connected = [this](Side side) { return peers_[side].facts.mode == "connected"; };
    if (!is_connected(way.from) || !is_connected(way.to)) return {};
    const auto& by = rfc4755::cm_accepts_all_modes;
    return {{way.from, &by, "a REQ, or a datagram", [](const Packet& p) { return is_cm(p, {cm_attribute::req}); }},
            {way.to, &by, "a REP or REJ", [](const Packet& p) {
                 return is_cm(p, {cm_attribute::rep, cm_attribute::rej, cm_attribute::mra});
             }}};
}

std::vector<Leg> Meeting::echo(Way way, const IpAddress& to) const {
    const auto from = peers_[way.from].address(to.is_v4() ? Family::ipv4 : Family::ipv6);
    const auto is_message = [](bool is_request, const IpAddress& source, const IpAddress& destination) {
        return [=](const Packet& p) {
            return is_between(p, source, destination) && (is_last(p) || (!p.is_fragment && is_echo(p, is_request)));
        };
    };
    return {{way.from, &rfc4391::unicast_to_peer_qp, "the whole echo request", is_message(true, from, to),
             [this, way](const Packet& p) { return astray_to(way.to, p); }},
            {way.to, &rfc4391::encap_type_demultiplexing, "the whole echo reply", is_message(false, to, from),
             [this, way](const Packet& p) { return astray_to(way.from, p); }}};
}

std::optional<Side> Meeting::left_link_since(std::size_t begin) const {
    Packet packet;
    for (auto i = begin; i < recorder_.size(); ++i) {
        recorder_.decode(i, packet);
        const auto whose = sender(packet);
        if (whose && packet.mad && packet.mc_member && !is_response(packet.mad[Mad::method]) &&
            packet.mad[Mad::method] != Method::get && packet.mc_member[McMemberRecord::mgid] == link_.broadcast_gid())
            return whose;
    }
    return std::nullopt;
}

bool Meeting::charge_wrong_address(Side side) {
    for (const auto& one : announced(side)) {
        if (one.gid == peers_[side].gid || peers_[side].gid.is_zero()) continue;
        charge(side, rfc4391::link_address_gid, one.frame,
               "a GID of its port, " + text(peers_[side].gid) + ", in what it announces",
               "it announces " + text(one.gid));
        return true;
    }
    return false;
}

void Meeting::demand_in_time(const std::vector<Leg>& legs, const Reached& far) const {
    // RFC 4861, 10, and what ARP does: a second after each question, of which there are few.
    constexpr auto patience = 900ms;
    if (far.asked_frame == 0 || legs[far.legs - 1].owes == legs[far.legs - 2].owes) return;
    const auto waited = recorder_.time(far.frame - 1) - recorder_.time(far.asked_frame - 1);
    if (waited < patience) return;
    throw CaseEnds::inconclusive(fmt::format(
        "{}: {} came {:.1f} s after it was asked for (frames {} and {}), when nobody need wait any more", step_,
        legs[far.legs - 1].what, std::chrono::duration<double>(waited).count(), far.asked_frame, far.frame));
}

void Meeting::settle(const std::vector<Leg>& legs, const Effect& effect, bool is_effective, std::size_t begin,
                     const std::string& said, const std::optional<Probe>& probe) {
    const auto far = reached(legs, recorder_, begin, [this](const Packet& packet) { return sender(packet); });
    for (std::size_t i = 0; i < far.legs; ++i) kept(legs[i].owes, *legs[i].by);
    const auto words = said.empty() ? said : " (its adapter says: " + said + ")";
    if (const auto who = left_link_since(step_began_); who && !is_effective)
        throw CaseEnds::inconclusive(
            fmt::format("{}: {} left the link meanwhile, or joined it again", step_, name(*who)));
    const auto owes = far.legs < legs.size() ? legs[far.legs].owes : effect.owes;
    if (!is_effective && charge_wrong_address(other(owes))) return;
    if (far.legs < legs.size()) {
        const auto& leg = legs[far.legs];
        if (is_effective)
            throw CaseEnds::inconclusive(fmt::format("{}: {} says {}, and the tap shows not {}", step_,
                                                     name(effect.owes), effect.what, leg.what));
        const bool is_astray = !far.stray.why.empty();
        if (!is_astray && far.legs > 1) demand_in_time(legs, far);
        if (!is_astray && probe) demand_no_loss(*probe);
        const auto actual = is_astray        ? fmt::format("frame {} is astray: {}", far.stray_frame, far.stray.why)
                            : far.frame != 0 ? fmt::format("none came after frame {}", far.frame)
                                             : std::string("none came");
        return charge(leg.owes, is_astray && far.stray.by ? *far.stray.by : *leg.by,
                      is_astray ? far.stray_frame : far.frame, leg.what + " by " + std::string(name(leg.owes)),
                      actual + (leg.owes == effect.owes ? words : ""));
    }
    if (is_effective) return kept(effect.owes, *effect.by);
    if (probe) demand_no_loss(*probe);
    charge(effect.owes, *effect.by, far.frame, fmt::format("that {} tells {}", name(effect.owes), effect.what),
           fmt::format("it does not, though frame {} got there{}", far.frame, words));
}

bool Meeting::ping(Way way, Family family, std::size_t size) { return ping(way, peers_[way.to].address(family), size); }

bool Meeting::ping(Way way, const IpAddress& to, std::size_t size) {
    step(fmt::format("{}, ping {} with {} octets", text(way), text(to), size));
    const auto family = to.is_v4() ? Family::ipv4 : Family::ipv6;
    const auto whole = most_in_one_packet(family);
    // That fragments are not put together is no matter of chance; but a sender may have to learn first that it must
    // make some, by a packet that was too long (RFC 1191, 3; RFC 8201, 4).
    const auto tries = size > whole ? 2 : attempts;
    std::string said;
    auto begin = recorder_.size();
    bool is_answered = false;
    for (unsigned i = 0; i < tries && !is_answered && !fabric::Loop::stop_requested(); ++i) {
        begin = recorder_.size();
        try {
            is_answered = ask(way.from, [&](Dut& dut) { return dut.ping(to, size); });
        } catch (const SideRefused& why) {
            said = why.what();
            loop().run_for(scaled(1s));
        } catch (const Unsupported& why) {
            note(way.from, fmt::format("no ping with {} octets: {}", size, why.what()));
            return true;
        }
        // A reply may be a duplicate's, or on its way.
        loop().run_for(between_looks_of_tap);
    }
    const auto from = peers_[way.from].address(family);
    if (!is_answered && family == Family::ipv6)
        for (const auto& [side, address] : {std::pair{way.to, to}, std::pair{way.from, from}})
            if (!can_be_solicited(side, address)) return false;
    // RFC 1122, 3.3.2 and RFC 8200, 5 have hosts put fragments together; no text of IPoIB does.
    if (!is_answered && size > whole) {
        find(way.to, "fragments-unanswered",
             fmt::format("{} is not answered when it asks {} for {} octets, more than one packet of both takes; it is "
                         "with up to {}",
                         name(way.from), name(way.to), size, whole));
        return false;
    }
    auto legs = resolution(way, to);
    std::ranges::move(connection(way), std::back_inserter(legs));
    auto messages = echo(way, to);
    legs.push_back(std::move(messages.front()));
    const auto asked = legs.size();
    // Who is to answer may have to ask in its turn.
    auto back = resolution({way.to, way.from}, from);
    back.front().what = "an echo reply, or " + back.front().what;
    std::ranges::move(back, std::back_inserter(legs));
    legs.push_back(std::move(messages.back()));
    for (auto i = asked; i < legs.size(); ++i) legs[i].after = asked;
    const auto& by =
        peers_[way.from].facts.mode == "connected" ? rfc4755::cm_accepts_all_modes : rfc4391::encap_type_demultiplexing;
    settle(legs, {way.from, &by, "that the echo request was answered"}, is_answered, begin, said, Probe{way, to});
    return is_answered;
}

void Meeting::demand_no_loss(const Probe& probe) {
    constexpr std::size_t short_one = 56;
    // What two lose on their ways adds up: half of all goes wrong where each loses a tenth.
    constexpr unsigned most = 40, most_in_vain = 16;
    Series series{most, most_in_vain};
    while (series.goes_on() && !fabric::Loop::stop_requested()) {
        bool is_answered = false;
        try {
            is_answered = ask(probe.way.from, [&](Dut& dut) { return dut.ping(probe.to, short_one); });
        } catch (const SideRefused&) {
            // As good as no answer.
        } catch (const Unsupported&) {
            return;
        }
        series.take(is_answered);
        loop().run_for(between_looks_of_tap);
    }
    if (series.loses()) throw CaseEnds::inconclusive(step_ + ": " + series.text());
}

std::size_t Meeting::most_in_one_packet(Family family) const {
    constexpr std::size_t least_mtu = 68;
    const auto of = [this](Side side) {
        const auto mtu = peers_[side].facts.mtu;
        return mtu < least_mtu ? usual_mtu : mtu;
    };
    const auto headers = Icmp::size + (family == Family::ipv4 ? Ipv4::size : Ipv6::size);
    return std::min(of(Side::dut), of(Side::against)) - headers;
}

std::vector<std::size_t> Meeting::sizes(Family family) const {
    constexpr std::size_t few = 56, some_kilobytes = 8192;
    // RFC 791, 3.1: the length of IP has 16 bits. In IPv6 it is without the header; not every stack makes use of that.
    constexpr std::size_t longest = 0xffff;
    const auto most = longest - Icmp::size - (family == Family::ipv4 ? Ipv4::size : Ipv6::size);
    const auto whole = most_in_one_packet(family);
    std::vector<std::size_t> sizes{0, few, whole, whole + 1, std::min(2 * whole + 1, most), some_kilobytes};
    std::erase_if(sizes, [most](std::size_t size) { return size > most; });
    return sizes;
}

void Meeting::listen(Side side) {
    if (!listening_.insert(side).second) return;
    try {
        ask(side, [](Dut& dut) { dut.listen(listening_port); });
    } catch (const SideRefused&) {
        // It does already, for the exchange before this one.
    }
}

bool Meeting::has_received(Side side, const std::string& payload) {
    const auto all = ask(side, [](Dut& dut) { return dut.received(); });
    return std::ranges::any_of(
        all, [&](const DatagramReceived& one) { return one.port == listening_port && one.payload == payload; });
}

void Meeting::datagram(Way way, const IpAddress& to) {
    step(fmt::format("{}, a datagram to {}", text(way), text(to)));
    listen(way.to);
    const auto mgid = mgid_of(to);
    const bool is_to_all = to.is_limited_broadcast();
    const auto& member = is_to_all ? rfc4391::broadcast_full_member_join : rfc4391::receiver_full_member_join;
    if (!is_member(way.to, mgid, join_state::full_member))
        return charge(way.to, member, 0, fmt::format("{} as FullMember of {}", name(way.to), text(mgid)), "it is none");
    std::string said;
    auto begin = recorder_.size();
    bool has_come = false;
    std::vector<std::uint8_t> payload;
    for (unsigned i = 0; i < attempts && !has_come && !fabric::Loop::stop_requested(); ++i) {
        ++number_;
        payload.assign({'i', 'n', 't', 'e', 'r', 'o', 'p', static_cast<std::uint8_t>(number_ >> 8),
                        static_cast<std::uint8_t>(number_)});
        begin = recorder_.size();
        try {
            ask(way.from, [&](Dut& dut) { dut.send(to, listening_port, payload); });
        } catch (const SideRefused& why) {
            said = why.what();
        }
        const auto wanted = hex_octets(payload, payload.size());
        has_come = wait_until([&] { return has_received(way.to, wanted); }, 2s);
    }
    const auto is_it = [payload](const Packet& p) { return std::ranges::equal(udp_payload(p), payload); };
    const auto& sends = is_to_all ? rfc4391::broadcast_group_carries_broadcasts : rfc4391::sender_joins_first;
    settle({{way.from, &sends, "the datagram", is_it,
             [&](const Packet& p) { return astray_to_group(way.from, mgid, p); }}},
           {way.to, &rfc4391::encap_type_demultiplexing, "that the datagram came"}, has_come, begin, said,
           Probe{way, peers_[way.to].address(to.is_v4() ? Family::ipv4 : Family::ipv6)});
}

Leg Meeting::dhcp_leg(Side owes, DhcpType type, const requirements::Requirement& by) {
    return {owes, &by, "a " + dhcp_name(type),
            [type](const Packet& p) { return dhcp_of(p) && dhcp_type(udp_payload(p)) == type; },
            [this, owes](const Packet& p) {
                return p.is_multicast ? astray_to_group(owes, link_.broadcast_gid(), p) : astray_to(other(owes), p);
            }};
}

/// RFC 4361, 6.1: a server takes it for another client's.
Astray Meeting::renamed_since(std::size_t begin, const Packet& request) const {
    const auto asked = udp_payload(request);
    const auto own = find_dhcp_option(asked, dhcp_option::client_identifier);
    Packet packet;
    for (auto i = begin; own && i < recorder_.size(); ++i) {
        recorder_.decode(i, packet);
        if (!dhcp_of(packet) || sender(packet) != sender(request)) continue;
        const auto said = udp_payload(packet);
        if (dhcp_type(said) != DhcpType::discover || dhcp_of(packet)[Dhcp::xid] != dhcp_of(request)[Dhcp::xid])
            continue;
        const auto before = find_dhcp_option(said, dhcp_option::client_identifier);
        if (before && !std::ranges::equal(*before, *own))
            return {fmt::format("its client identifier is not that of the DHCPDISCOVER, frame {}", i + 1),
                    &rfc4390::client_identifier_format};
    }
    return {};
}

void Meeting::lease(Way way) {
    constexpr auto longest_lease = 20s;
    const auto [server, client] = way;
    step(fmt::format("{} gives {} an address by DHCP", name(server), name(client)));
    const auto before = peers_[client].facts.ipv4;
    const auto begin = recorder_.size();
    ask(server, [](Dut& dut) { dut.dhcp_server(true); });
    ask(client, [](Dut& dut) { dut.dhcp(true); });
    std::optional<IpNetwork> leased;
    const auto has_it = [&, client = client] {
        static_cast<void>(look_at(client));
        for (const auto& one : peers_[client].facts.ipv4)
            if (std::ranges::find(before, one) == before.end()) leased = one;
        return leased.has_value();
    };
    static_cast<void>(wait_until(has_it, longest_lease));
    // What a client sends is what RFC 4390 is about; a server answers by broadcast.
    const auto& asks = rfc4390::broadcast_flag_set;
    const auto& answers = rfc4390::server_reply;
    auto request = dhcp_leg(client, DhcpType::request, asks);
    request.astray = [this, begin, arrives = request.astray](const Packet& p) {
        return or_else(renamed_since(begin, p), arrives(p));
    };
    settle({dhcp_leg(client, DhcpType::discover, asks), dhcp_leg(server, DhcpType::offer, answers), std::move(request),
            dhcp_leg(server, DhcpType::ack, answers)},
           {client, &rfc4391::encap_type_demultiplexing, "of the address"}, leased.has_value(), begin, {},
           Probe{way, peers_[client].address(Family::ipv4)});
    if (leased) static_cast<void>(ping({server, client}, leased->address, 56));
    ask(client, [](Dut& dut) { dut.dhcp(false); });
    ask(server, [](Dut& dut) { dut.dhcp_server(false); });
    static_cast<void>(look_at(client));
}

}  // namespace ipoib::conformance::interop
