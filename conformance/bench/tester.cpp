// SPDX-License-Identifier: GPL-2.0-or-later
// A polite node, written apart from the reference stack: a mistake must not judge itself. RFC 4391, 5 and 9.
#include "conformance/bench/tester.hpp"

#include "protocol/wire/inform_info.hpp"
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

std::uint64_t own_interface_id(const fabric::PortFacts& facts) {
    constexpr std::uint64_t spread = 0x9e3779b97f4a7c15, low_half = 0xffffffff;
    const auto mixed = (facts.gid.interface_id() ^ facts.qpn) * spread;
    return (mixed >> 32 & low_half) | 1;
}

/// As the journal has a membership.
std::vector<std::uint8_t> membership_octets(const Gid& mgid, std::uint8_t state) {
    std::vector<std::uint8_t> octets(mgid.octets.begin(), mgid.octets.end());
    octets.push_back(state);
    return octets;
}

}  // namespace

SaRequest subscription(std::uint16_t trap_number, const Gid& gid, bool is_wanted) {
    constexpr std::uint32_t gsi = 1;
    constexpr std::uint8_t about_a_second = 18;
    const auto info = Bytes<InformInfo>{}
                          .set(InformInfo::gid, gid)
                          .set(InformInfo::lid_range_begin, InformInfo::all)
                          .set(InformInfo::is_generic, 1)
                          .set(InformInfo::subscribe, is_wanted ? 1 : 0)
                          .set(InformInfo::type, InformInfo::all)
                          .set(InformInfo::trap_number, trap_number)
                          .set(InformInfo::qpn, gsi)
                          .set(InformInfo::resp_time_value, about_a_second)
                          .set(InformInfo::producer_type, InformInfo::all_producers);
    return {
        .method = Method::set, .attribute = attribute::inform_info, .record = {info.octets.begin(), info.octets.end()}};
}

Tester::Tester(fabric::Port& port, std::uint16_t p_key, Manners manners) : port_(port), manners_(std::move(manners)) {
    const auto facts = port.facts();
    constexpr auto u_bit = std::uint64_t{0x02} << 56;
    constexpr auto link_local = std::uint64_t{0xfe80} << 48;
    self_.lid = facts.lid;
    self_.gid = facts.gid;
    self_.qpn = facts.qpn;
    // Beside an interface of the host, which has the usual address, another one: of local scope, and by its queue pair.
    self_.ipv6 = Gid::of(link_local, facts.is_shared ? own_interface_id(facts) : facts.gid.interface_id() ^ u_bit);
    const auto full_p_key = facts.first_full_p_key();
    constexpr std::uint16_t default_p_key = 0xffff;
    link_.p_key = p_key ? p_key : full_p_key ? full_p_key : default_p_key;
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
    link_.p_key |= full_membership;
}

std::string Tester::enter_link(fabric::Duration patience) {
    patience_ = patience;
    // Its port may have got another LID, or another GID, since.
    const auto facts = port_.facts();
    self_.lid = facts.lid;
    self_.gid = facts.gid;
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
        (void)join(mgid_for_ipv6(solicited_node_group(self_.ipv6), link_.p_key, link_.scope), full_member_state);
        own_memberships_ = memberships_.size() - others;
        std::rotate(memberships_.begin(), memberships_.begin() + static_cast<std::ptrdiff_t>(others),
                    memberships_.end());
        return {};
    }
    return "the SA has no broadcast group for P_Key " + hex(link_.p_key, 4) + " in scope 2, 5, 8 or 14";
}

SaAnswer Tester::ask(const SaRequest& request) {
    const auto inform = View<InformInfo>::at(request.record);
    const bool is_subscription =
        request.method == Method::set && request.attribute == attribute::inform_info && inform && manners_.journal;
    if (!is_subscription) return port_.ask_sa(request, patience_);
    // Known by what it subscribes to; what ends it differs in Subscribe and QPN.
    Bytes<InformInfo> begun;
    std::ranges::copy(inform.octets(), begun.octets.begin());
    begun.set(InformInfo::subscribe, 1).set(InformInfo::qpn, 0);
    if (inform[InformInfo::subscribe]) manners_.journal->begins(Journal::Kind::subscription, begun.octets);
    auto answer = port_.ask_sa(request, patience_);
    const bool has_ended = inform[InformInfo::subscribe] ? answer.is_answered && !answer.is_ok() : answer.is_answered;
    if (has_ended) manners_.journal->ends(Journal::Kind::subscription, begun.octets);
    return answer;
}

std::optional<bool> Tester::may_be_held(const Gid& mgid) {
    if (!port_.facts().is_shared || (manners_.is_of_run && manners_.is_of_run(mgid))) return false;
    if (std::ranges::find(ours_, mgid) != ours_.end()) return false;
    const auto answer = ask({.method = Method::get_table,
                             .attribute = attribute::mc_member_record,
                             .component_mask = component::mgid,
                             .record = octets_of(Bytes<McMemberRecord>{}.set(McMemberRecord::mgid, mgid)),
                             .is_trusted = manners_.is_trusted});
    if (!answer.is_answered) return {};
    // A group that is not there has no members.
    bool is_free = answer.status == sa_status::no_records || (answer.is_ok() && !answer.first<McMemberRecord>());
    if (!is_free && manners_.is_trusted && answer.is_ok() && !answer.is_cut) {
        is_free = true;
        // A record without a port does not tell who is a member.
        (void)for_each_record<McMemberRecord>(answer.data, answer.record_size, [&](View<McMemberRecord> record) {
            const auto member = record[McMemberRecord::port_gid];
            is_free &= !member.is_zero() && member != self_.gid;
        });
    }
    if (is_free) ours_.push_back(mgid);
    return !is_free;
}

SaAnswer Tester::join(const Bytes<McMemberRecord>& record, std::uint64_t mask) {
    const auto asked_mgid = record[McMemberRecord::mgid];
    const bool is_own_port = record[McMemberRecord::port_gid] == self_.gid;
    const auto held = is_own_port ? may_be_held(asked_mgid) : false;
    if (!held) return {};
    const bool is_held = *held;
    const auto state = record[McMemberRecord::join_state];
    // Without a state it makes nobody a member.
    const bool is_written = manners_.journal && is_own_port && !is_held && state != 0;
    const bool is_new = is_written && !asked_mgid.is_zero() && write_down(asked_mgid, state);
    auto answer = ask({.method = Method::set,
                       .attribute = attribute::mc_member_record,
                       .component_mask = mask,
                       .record = octets_of(record)});
    const auto joined = answer.first<McMemberRecord>();
    // An SA that was not heard may have granted it all the same: an interrupt ends the waiting, not the request.
    if (!answer.is_answered && record[McMemberRecord::port_gid] == self_.gid)
        memberships_.push_back({record[McMemberRecord::mgid], state, 0, is_held});
    if (is_new && answer.is_answered && !answer.is_ok())
        manners_.journal->ends(Journal::Kind::membership, membership_octets(asked_mgid, state));
    // The SA has chosen it.
    if (is_written && answer.is_ok() && joined && asked_mgid.is_zero())
        (void)write_down(joined[McMemberRecord::mgid], state);
    if (!answer.is_ok() || !joined) return answer;
    if (joined[McMemberRecord::port_gid] != self_.gid && record[McMemberRecord::port_gid] != self_.gid) return answer;
    const Membership membership{joined[McMemberRecord::mgid], state, joined[McMemberRecord::mlid], is_held};
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
    auto answer = ask({.method = Method::del,
                       .attribute = attribute::mc_member_record,
                       .component_mask = component::join,
                       .record = octets_of(record)});
    if (answer.is_answered && manners_.journal) cross_out(mgid, join_state);
    return answer;
}

bool Tester::write_down(const Gid& mgid, std::uint8_t state) {
    return manners_.journal->begins(Journal::Kind::membership, membership_octets(mgid, state));
}

/// States are left one by one, too.
void Tester::cross_out(const Gid& mgid, std::uint8_t states) {
    const auto entries = manners_.journal->entries();
    for (const auto& [kind, octets] : entries) {
        if (kind != Journal::Kind::membership ||
            !std::ranges::equal(Octets{octets}.first(mgid.octets.size()), mgid.octets))
            continue;
        const auto left = static_cast<std::uint8_t>(octets.back() & ~states);
        if (left == octets.back()) continue;
        if (left != 0) (void)write_down(mgid, left);
        manners_.journal->ends(kind, octets);
    }
}

void Tester::give_up(const Membership& membership) {
    if (!membership.is_held) {
        (void)leave(membership.mgid, membership.state);
        return;
    }
    if (membership.state & ~send_only_states) port_.detach(membership.mgid, membership.mlid);
    std::erase_if(memberships_, [&](const Membership& one) { return one.mgid == membership.mgid; });
}

std::size_t Tester::end_what_was_left() {
    if (!manners_.journal) return 0;
    const auto entries = manners_.journal->entries();
    for (const auto& [kind, octets] : entries) {
        if (kind == Journal::Kind::membership) {
            Gid mgid;
            std::copy_n(octets.begin(), mgid.octets.size(), mgid.octets.begin());
            (void)leave(mgid, octets.back());
        } else {
            Bytes<InformInfo> info;
            std::ranges::copy(octets, info.octets.begin());
            (void)ask({.method = Method::set,
                       .attribute = attribute::inform_info,
                       .record = octets_of(info.set(InformInfo::subscribe, 0).set(InformInfo::qpn, 1))});
        }
    }
    return entries.size();
}

void Tester::leave_groups() {
    const auto all = memberships_;
    for (auto i = own_memberships_; i < all.size(); ++i) give_up(all[i]);
}

void Tester::leave_all() {
    leave_groups();
    const auto own = memberships_;
    own_memberships_ = 0;
    for (const auto& one : own) give_up(one);
}

bool Tester::keeps(const Gid& mgid) const {
    return std::ranges::any_of(memberships_, [&](const Membership& one) { return one.mgid == mgid && one.is_held; });
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
