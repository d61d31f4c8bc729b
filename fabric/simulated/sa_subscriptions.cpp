// SPDX-License-Identifier: GPL-2.0-or-later
// Subscriptions, and reports that are repeated until they are answered.
#include "fabric/simulated/sa_subscriptions.hpp"

#include <algorithm>

namespace ipoib::fabric::sa {
using namespace wire;

namespace {

/// The rows that make a subscription another one.
constexpr std::array<const FieldSpec*, 9> key_of_subscription{
    &InformInfo::gid,          &InformInfo::lid_range_begin, &InformInfo::lid_range_end, &InformInfo::is_generic,
    &InformInfo::type,         &InformInfo::trap_number,     &InformInfo::qpn,           &InformInfo::resp_time_value,
    &InformInfo::producer_type};

MadOctets report_mad(std::uint32_t transaction, const Bytes<Notice>& notice) {
    MadOctets mad{};
    const auto header = Bytes<Mad>{}
                            .set(Mad::base_version, 1)
                            .set(Mad::mgmt_class, MgmtClass::subn_adm)
                            .set(Mad::class_version, 2)
                            .set(Mad::method, Method::report)
                            .set(Mad::transaction_id, transaction)
                            .set(Mad::attribute_id, attribute::notice);
    std::copy(header.octets.begin(), header.octets.end(), mad.begin());
    std::copy(notice.octets.begin(), notice.octets.end(), mad.begin() + SaHeader::data_offset);
    return mad;
}

}  // namespace

Subscriptions::Subscriptions(Outbox& outbox, Hca& hca, const SubnetView& subnet, const SaConfig& config)
    : outbox_(outbox),
      hca_(hca),
      subnet_(subnet),
      config_(config),
      transaction_(static_cast<std::uint32_t>(std::mt19937_64{config.seed}())) {}

Subscriptions::~Subscriptions() { outbox_.loop().cancel(timer_); }

Reply Subscriptions::set(const Request& request) {
    const auto asked = request.record<InformInfo>();
    Bytes<InformInfo> answer;
    std::copy_n(asked.data(), InformInfo::size, answer.octets.begin());
    const auto refuse = [&](std::uint16_t status) {
        return Reply::of(answer.set(InformInfo::subscribe, 0)).with(status);
    };

    Subscription subscription{request.port->gid, request.back, answer};
    const auto subscribe = asked[InformInfo::subscribe];
    if (subscribe > 1) return refuse(sa_status::invalid_request);
    if (subscribe == 0) {
        const auto id = find(subscription);
        if (!id) return refuse(sa_status::invalid_request);
        if (config_.behaviour.ends_subscriptions) remove(*id);
        if (config_.behaviour.lapse == SaLapse::end_swallows_next_report) deaf_.insert(request.port->gid);
        if (const auto lapse = config_.behaviour.lapse;
            lapse == SaLapse::end_of_all_ends_each && asked[InformInfo::trap_number] == trap::all)
            remove_all_of(request.port->gid);
        else if (lapse == SaLapse::end_of_one_ends_others)
            remove_of_trap(asked[InformInfo::trap_number]);
        return Reply::of(answer);
    }
    if (!may_subscribe(request, asked)) return refuse(sa_status::invalid_request);
    // Reports go to the queue pair that asked, whatever QPN says.
    subscription.info.set(InformInfo::qpn, request.back.dest_qp);
    const auto lapse = config_.behaviour.lapse;
    if (const auto id = find(subscription); id && lapse != SaLapse::subscription_again_doubles) {
        subscriptions_.at(*id) = subscription;
        return Reply::of(answer);
    }
    const auto most = config_.most_subscriptions + (lapse == SaLapse::one_subscriber_more ? 1 : 0);
    if (subscriptions_.size() >= most) return refuse(sa_status::no_resources);
    if (lapse == SaLapse::second_subscriber_first) remove_of_trap(asked[InformInfo::trap_number]);
    constexpr std::size_t few = 8;
    if (!config_.behaviour.keeps_all_subscriptions && subscriptions_.size() >= few)
        remove(subscriptions_.begin()->first);
    add(subscription);
    if (lapse == SaLapse::subscription_replays_last && last_.trap != 0) {
        waiting_.push_back(last_);
        waiting_.back().subscription = last_id_;
        pump();
    }
    return Reply::of(answer);
}

void Subscriptions::add(const Subscription& subscription) {
    const auto lid = subscription.path.dlid;
    const auto [begin, end] = by_lid_.equal_range(lid);
    for (auto at = begin; at != end;) at = subscriptions_.contains(at->second) ? std::next(at) : by_lid_.erase(at);
    subscriptions_.emplace(++last_id_, subscription);
    by_lid_.emplace(lid, last_id_);
}

void Subscriptions::remove_of_trap(std::uint16_t trap) {
    std::erase_if(subscriptions_,
                  [&](const auto& one) { return one.second.info.view()[InformInfo::trap_number] == trap; });
    std::erase_if(open_, [&](const auto& entry) { return !subscriptions_.contains(entry.second.subscription); });
}

/// IBTA Vol 1, 13.4.9, o13-14.1.1: the ports whose traps are asked for must be within the requester's reach.
bool Subscriptions::may_subscribe(const Request& request, View<InformInfo> info) const {
    const auto reaches = [&](const KnownPort& port) { return is_told_of(*request.port, port); };
    if (const auto gid = info[InformInfo::gid]; !gid.is_zero()) {
        const auto* port = find_port(subnet_, gid, request.port->gid.prefix());
        return port && reaches(*port);
    }
    const auto begin = info[InformInfo::lid_range_begin];
    if (begin == InformInfo::all) return true;
    const auto end = info[InformInfo::lid_range_end] == 0 ? begin : info[InformInfo::lid_range_end];
    std::uint16_t highest = 0;
    for (const auto& port : subnet_.ports()) {
        highest = std::max(highest, port.lid);
        if (begin <= port.lid && port.lid <= end && !reaches(port)) return false;
    }
    return begin <= highest;
}

std::optional<Subscriptions::Id> Subscriptions::find(const Subscription& like) const {
    const auto is_like = [&](const Subscription& known) {
        return known.path.dlid == like.path.dlid && known.path.dest_qp == like.path.dest_qp &&
               std::all_of(key_of_subscription.begin(), key_of_subscription.end(),
                           [&](const FieldSpec* row) { return is_same(*row, known.info.octets, like.info.octets); });
    };
    // Of all of one port there are few; those that have ended since are passed over.
    std::optional<Id> first;
    const auto [begin, end] = by_lid_.equal_range(like.path.dlid);
    for (auto at = begin; at != end; ++at) {
        const auto known = subscriptions_.find(at->second);
        if (known == subscriptions_.end() || !is_like(known->second)) continue;
        if (!first || known->first < *first) first = known->first;
    }
    return first;
}

bool Subscriptions::matches(View<InformInfo> info, std::uint16_t trap, const PortFacts& issuer) {
    if (const auto gid = info[InformInfo::gid]; !gid.is_zero()) {
        if (gid != issuer.gid) return false;
    } else if (const auto begin = info[InformInfo::lid_range_begin]; begin != InformInfo::all) {
        const auto end = std::max(begin, info[InformInfo::lid_range_end]);
        if (issuer.lid < begin || end < issuer.lid) return false;
    }
    const auto is_one_of = [](std::uint32_t value, std::uint32_t all, std::uint32_t right) {
        return value == all || value == right;
    };
    return info[InformInfo::is_generic] != 0 &&
           is_one_of(info[InformInfo::type], InformInfo::all, notice_type_of_subnet_management) &&
           is_one_of(info[InformInfo::trap_number], InformInfo::all, trap) &&
           is_one_of(info[InformInfo::producer_type], InformInfo::all_producers, producer_class_manager);
}

void Subscriptions::report(std::uint16_t trap, const Gid& mgid, std::uint16_t p_key) {
    last_ = {.subscription = 0, .trap = trap, .mgid = mgid};
    if (!config_.behaviour.reports || subscriptions_.empty()) return;
    const auto issuer = hca_.facts();
    for (const auto& [id, subscription] : subscriptions_) {
        if (waiting_.size() >= most_waiting) return;
        if (!matches(subscription.info.view(), trap, issuer)) continue;
        const auto* port = subnet_.by_lid(subscription.path.dlid);
        if (deaf_.erase(subscription.port_gid) != 0) continue;
        if (port && has_p_key(*port, p_key)) waiting_.push_back({id, trap, mgid, 0, {}});
    }
    pump();
}

void Subscriptions::pass_on(View<Notice> notice) {
    constexpr std::uint16_t everywhere = full_membership | 0x7fff;
    if (const auto details = gid_details(notice))
        report(notice[Notice::trap_number], details[GidDetails::gid], everywhere);
}

void Subscriptions::pump() {
    while (!waiting_.empty() && open_.size() < most_open) {
        auto report = waiting_.front();
        waiting_.pop_front();
        if (!subscriptions_.contains(report.subscription)) continue;
        ++transaction_;
        send(transaction_, report);
        open_[transaction_] = report;
    }
    arm();
}

void Subscriptions::send(std::uint32_t transaction, Report& report) {
    const auto& path = subscriptions_.at(report.subscription).path;
    ++report.sends;
    auto mgid = report.mgid;
    if (!config_.behaviour.reports_right_group) mgid.octets.back() ^= 1;
    report.due = outbox_.loop().now() + outbox_.delay() + config_.resend_after;
    outbox_.post(path, report_mad(transaction, notice_of_gid(report.trap, mgid, hca_.facts().lid, hca_.facts().gid)));
}

void Subscriptions::arm() {
    if (timer_ || open_.empty()) return;
    const auto is_earlier = [](const auto& one, const auto& other) { return one.second.due < other.second.due; };
    const auto next = std::min_element(open_.begin(), open_.end(), is_earlier)->second.due;
    timer_ = outbox_.loop().at(next, [this] {
        timer_ = {};
        resend();
    });
}

void Subscriptions::resend() {
    std::set<Id> lost;
    for (auto& [transaction, report] : open_) {
        if (report.due > outbox_.loop().now()) continue;
        if (report.sends < config_.most_sends) {
            send(transaction, report);
        } else {
            lost.insert(report.subscription);
        }
    }
    // A subscriber that answers no report is gone.
    for (const auto id : lost) remove(id);
    pump();
}

void Subscriptions::acknowledged(const Request& response) {
    const auto at = open_.find(static_cast<std::uint32_t>(response.header()[Mad::transaction_id]));
    if (at == open_.end() || subscriptions_.at(at->second.subscription).path.dlid != response.back.dlid) return;
    open_.erase(at);
    pump();
}

void Subscriptions::remove(Id id) {
    subscriptions_.erase(id);
    std::erase_if(open_, [&](const auto& entry) { return entry.second.subscription == id; });
}

void Subscriptions::remove_all_of(const Gid& port_gid) {
    for (auto at = subscriptions_.begin(); at != subscriptions_.end();) {
        const auto [id, subscription] = *at++;
        if (subscription.port_gid == port_gid) remove(id);
    }
    pump();
}

std::size_t Subscriptions::size_of(const Gid& port_gid) const {
    return static_cast<std::size_t>(
        std::ranges::count_if(subscriptions_, [&](const auto& entry) { return entry.second.port_gid == port_gid; }));
}

void Subscriptions::clear() {
    subscriptions_.clear();
    by_lid_.clear();
    open_.clear();
    waiting_.clear();
    last_ = {};
    deaf_.clear();
    outbox_.loop().cancel(timer_);
}

}  // namespace ipoib::fabric::sa
