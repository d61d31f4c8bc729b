// SPDX-License-Identifier: GPL-2.0-or-later
// A polite node, written apart from the reference stack: a mistake must not judge itself. RFC 4391, 5 and 9.
#include "conformance/engine/tester.hpp"

#include "protocol/wire/path_record.hpp"
#include "protocol/wire/rmpp.hpp"

#include <algorithm>
#include <span>

namespace ipoib::conformance {
using namespace wire;
using fabric::SaAnswer;
using fabric::SaRequest;

namespace {

constexpr std::uint8_t full_member_state = 1, send_only_states = 4 | 8;
constexpr std::array<std::uint8_t, 4> scopes{2, 5, 8, 14};

template <class Record>
std::vector<std::uint8_t> octets_of(const Bytes<Record>& record) {
    return {record.octets.begin(), record.octets.end()};
}

using component = McMemberRecord::component;

/// The first P_Key of the table that makes its port a full member.
std::uint16_t own_p_key(const fabric::PortFacts& facts) {
    for (const auto key : facts.p_keys)
        if (key & full_member) return key;
    return 0xffff;
}

}  // namespace

IpAddress solicited_node_group(const Gid& address) noexcept {
    return IpAddress::v6(Gid::of(std::uint64_t{0xff02} << 48, 0x1ff000000u | (address.interface_id() & 0xffffff)));
}

Tester::Tester(fabric::Port& port, std::uint16_t p_key) : port_(port) {
    const auto facts = port.facts();
    constexpr auto u_bit = std::uint64_t{0x02} << 56;
    constexpr auto link_local = std::uint64_t{0xfe80} << 48;
    self_.lid = facts.lid;
    self_.gid = facts.gid;
    self_.qpn = facts.qpn;
    self_.ipv6 = Gid::of(link_local, facts.gid.interface_id() ^ u_bit);
    link_.p_key = p_key ? p_key : own_p_key(facts);
}

Tester::~Tester() = default;

void Tester::adopt(const Bytes<McMemberRecord>& record) {
    using R = McMemberRecord;
    broadcast_ = record;
    link_ = {.p_key = record[R::p_key],
             .q_key = record[R::q_key],
             .sl = record[R::sl],
             .traffic_class = record[R::traffic_class],
             .hop_limit = record[R::hop_limit],
             .scope = mgid_of(record[R::mgid])[Mgid::scope],
             .flow_label = record[R::flow_label],
             .mtu = record[R::mtu],
             .broadcast_mlid = record[R::mlid]};
    link_.p_key |= full_member;
}

std::string Tester::enter_link(fabric::Duration patience) {
    patience_ = patience;
    // Entering again: what it joined for itself is joined anew, what a case joined stays.
    memberships_.erase(memberships_.begin(), memberships_.begin() + static_cast<std::ptrdiff_t>(own_memberships_));
    own_memberships_ = 0;
    const auto others = memberships_.size();
    for (const auto scope : scopes) {
        const auto mgid = broadcast_gid(link_.p_key, scope);
        if (!find(mgid)) continue;
        Bytes<McMemberRecord> request;
        request.set(McMemberRecord::mgid, mgid)
            .set(McMemberRecord::port_gid, self_.gid)
            .set(McMemberRecord::join_state, full_member_state);
        const auto answer = join(request, component::join);
        if (!answer.is_ok())
            return "the SA refuses the tester's join of " + text(mgid) + ": status " + hex(answer.status, 4);
        const auto record = answer.first<McMemberRecord>();
        if (!record) return "the SA's answer to the join of " + text(mgid) + " holds no MCMemberRecord";
        Bytes<McMemberRecord> copy;
        std::ranges::copy(record.octets(), copy.octets.begin());
        adopt(copy);
        port_.set_q_key(link_.q_key);
        // Neighbours solicit its address there. What a mute SA does to this shows where it matters.
        (void)join(mgid_for_ipv6(solicited_node_group(self_.ipv6).octets, link_.p_key, link_.scope), full_member_state);
        own_memberships_ = memberships_.size() - others;
        std::rotate(memberships_.begin(), memberships_.begin() + static_cast<std::ptrdiff_t>(others),
                    memberships_.end());
        return {};
    }
    return "the SA has no broadcast group for P_Key " + hex(link_.p_key, 4) + " in scope 2, 5, 8 or 14";
}

SaAnswer Tester::join(const Bytes<McMemberRecord>& record, std::uint64_t mask) {
    auto answer = ask({.method = Method::set,
                       .attribute = attribute::mc_member_record,
                       .component_mask = mask,
                       .record = octets_of(record)});
    const auto joined = answer.first<McMemberRecord>();
    const auto state = record[McMemberRecord::join_state];
    // An SA that was not heard may have granted it all the same: an interrupt ends the waiting, not the request.
    if (!answer.is_answered && record[McMemberRecord::port_gid] == self_.gid)
        memberships_.push_back({record[McMemberRecord::mgid], state, 0});
    if (!answer.is_ok() || !joined) return answer;
    if (joined[McMemberRecord::port_gid] != self_.gid && record[McMemberRecord::port_gid] != self_.gid) return answer;
    const Membership membership{joined[McMemberRecord::mgid], state, joined[McMemberRecord::mlid]};
    // Also where no queue pair gets its packets, the membership is the SA's to end.
    memberships_.push_back(membership);
    if (state & ~send_only_states) (void)port_.attach(membership.mgid, membership.mlid);
    return answer;
}

Bytes<McMemberRecord> Tester::new_group(const Gid& mgid) const {
    auto record = broadcast_;
    return record.set(McMemberRecord::mgid, mgid)
        .set(McMemberRecord::port_gid, self_.gid)
        .set(McMemberRecord::mlid, 0)
        .set(McMemberRecord::join_state, full_member_state)
        .set(McMemberRecord::scope, mgid_of(mgid)[Mgid::scope])
        .set(McMemberRecord::mtu_selector, selector::exactly)
        .set(McMemberRecord::rate_selector, selector::exactly);
}

/// RFC 4391, 10: the group gets what the broadcast group has.
std::uint64_t Tester::creation_mask() noexcept {
    return component::create | component::hop_limit | component::mtu_selector | component::mtu |
           component::rate_selector | component::rate;
}

SaAnswer Tester::join(const Gid& mgid, std::uint8_t join_state) {
    return join(new_group(mgid).set(McMemberRecord::join_state, join_state),
                join_state & full_member_state ? creation_mask() : component::join);
}

SaAnswer Tester::leave(const Gid& mgid, std::uint8_t join_state) {
    Bytes<McMemberRecord> record;
    record.set(McMemberRecord::mgid, mgid)
        .set(McMemberRecord::port_gid, self_.gid)
        .set(McMemberRecord::join_state, join_state);
    const auto is_it = [&](const Membership& one) { return one.mgid == mgid && (one.state & ~join_state) == 0; };
    for (const auto& one : memberships_)
        if (is_it(one) && (one.state & ~send_only_states)) port_.detach(one.mgid, one.mlid);
    const auto own_end = memberships_.begin() + static_cast<std::ptrdiff_t>(own_memberships_);
    own_memberships_ -= static_cast<std::size_t>(std::count_if(memberships_.begin(), own_end, is_it));
    std::erase_if(memberships_, is_it);
    return ask({.method = Method::del,
                .attribute = attribute::mc_member_record,
                .component_mask = component::join,
                .record = octets_of(record)});
}

void Tester::leave_groups() {
    const auto all = memberships_;
    for (auto i = own_memberships_; i < all.size(); ++i) (void)leave(all[i].mgid, all[i].state);
}

void Tester::leave_all() {
    leave_groups();
    const auto own = memberships_;
    for (const auto& one : own)
        if (!keeps(one.mgid)) (void)leave(one.mgid, one.state);
}

bool Tester::keeps(const Gid& mgid) const {
    const auto own = std::span{memberships_}.first(own_memberships_);
    return port_.facts().is_shared && std::ranges::any_of(own, [&](const Membership& one) { return one.mgid == mgid; });
}

std::optional<Bytes<McMemberRecord>> Tester::find(const Gid& mgid) {
    const auto answer = ask({.method = Method::get_table,
                             .attribute = attribute::mc_member_record,
                             .component_mask = component::mgid,
                             .record = octets_of(Bytes<McMemberRecord>{}.set(McMemberRecord::mgid, mgid))});
    const auto record = answer.first<McMemberRecord>();
    if (!answer.is_ok() || !record || record[McMemberRecord::mgid] != mgid) return {};
    Bytes<McMemberRecord> copy;
    std::ranges::copy(record.octets(), copy.octets.begin());
    return copy;
}

std::uint8_t Tester::join_state(const Gid& mgid, const Gid& port_gid) {
    const auto answer = ask({.method = Method::get_table,
                             .attribute = attribute::mc_member_record,
                             .component_mask = component::mgid,
                             .record = octets_of(Bytes<McMemberRecord>{}.set(McMemberRecord::mgid, mgid)),
                             .is_trusted = true});
    std::uint8_t states = 0;
    if (!answer.is_ok()) return states;
    (void)for_each_record<McMemberRecord>(answer.data, answer.record_size, [&](View<McMemberRecord> record) {
        if (record[McMemberRecord::port_gid] == port_gid) states |= record[McMemberRecord::join_state];
    });
    return states;
}

std::uint16_t Tester::lid_of(const Gid& gid) {
    const auto wanted = Bytes<PathRecord>{}
                            .set(PathRecord::dgid, gid)
                            .set(PathRecord::sgid, self_.gid)
                            .set(PathRecord::reversible, true)
                            .set(PathRecord::number_of_paths, 1);
    const auto answer =
        ask({.method = Method::get,
             .attribute = attribute::path_record,
             .component_mask = PathRecord::component::dgid | PathRecord::component::sgid |
                               PathRecord::component::reversible | PathRecord::component::number_of_paths,
             .record = octets_of(wanted)});
    const auto path = answer.first<PathRecord>();
    return answer.is_ok() && path ? path[PathRecord::dlid] : std::uint16_t{0};
}

Gid Tester::gid_of(std::uint16_t lid) {
    using R = PathRecord;
    const auto wanted =
        Bytes<R>{}.set(R::dlid, lid).set(R::sgid, self_.gid).set(R::reversible, true).set(R::number_of_paths, 1);
    const auto answer = ask({.method = Method::get,
                             .attribute = attribute::path_record,
                             .component_mask = R::component::dlid | R::component::sgid | R::component::reversible |
                                               R::component::number_of_paths,
                             .record = octets_of(wanted)});
    const auto path = answer.first<R>();
    return answer.is_ok() && path ? path[R::dgid] : Gid{};
}

void Tester::present(std::uint8_t flags, std::uint32_t qpn) {
    self_.link_flags = flags;
    self_.qpn = qpn == 0 ? port_.facts().qpn : qpn;
}

void Tester::take(Octets frame) {
    if (!answers_) return;
    Packet packet;
    decode(frame, packet);
    if (packet.arp_addresses && packet.arp[Arp::operation] == Arp::request) answer_arp(packet);
    if (packet.icmpv6 && packet.icmpv6[Icmpv6::type] == Icmpv6Type::neighbour_solicitation) answer_solicitation(packet);
}

void Tester::answer_arp(const Packet& packet) {
    const auto& a = packet.arp_addresses;
    if (a[ArpAddresses::tpa] != self_.ipv4 || !packet.lrh) return;
    const build::Node asker{.lid = packet.lrh[Lrh::slid],
                            .gid = a[ArpAddresses::sha_gid],
                            .qpn = a[ArpAddresses::sha_qpn],
                            .ipv4 = a[ArpAddresses::spa],
                            .ipv6 = {},
                            .link_flags = a[ArpAddresses::sha_flags]};
    (void)port_.send(build::arp_reply(self_, asker, link_).build());
}

void Tester::answer_solicitation(const Packet& packet) {
    if (!packet.nd_target || packet.nd_target[NdTarget::target] != self_.ipv6 || !packet.source_option || !packet.lrh)
        return;
    const auto& option = packet.source_option;
    const build::Node asker{.lid = packet.lrh[Lrh::slid],
                            .gid = option[LinkAddressOption::gid],
                            .qpn = option[LinkAddressOption::qpn],
                            .ipv4 = 0,
                            .ipv6 = packet.ipv6[Ipv6::source],
                            .link_flags = option[LinkAddressOption::flags]};
    (void)port_.send(build::neighbour_advertisement(self_, asker, link_).build());
}

}  // namespace ipoib::conformance
