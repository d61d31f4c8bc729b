// SPDX-License-Identifier: GPL-2.0-or-later
// The administrator: which requests it takes, who answers them, and the faults on purpose.
#include "fabric/simulated/subnet_administrator.hpp"

#include "fabric/simulated/sa_membership.hpp"
#include "fabric/simulated/sa_paths.hpp"
#include "fabric/simulated/sa_records.hpp"
#include "fabric/simulated/sa_rmpp_sender.hpp"
#include "fabric/simulated/sa_services.hpp"
#include "protocol/wire/port_info.hpp"

#include <algorithm>

namespace ipoib::fabric {
using namespace wire;
using M = McMemberRecord;

namespace {

constexpr std::uint8_t mad_base_version = 1, sa_class_version = 2;

bool is_request(Method method) noexcept {
    switch (method) {
        case Method::send:
        case Method::trap:
        case Method::report:
        case Method::trap_repress:
            return false;
        default:
            return !is_response(method);
    }
}

bool is_known(Method method) noexcept {
    switch (method) {
        case Method::get:
        case Method::set:
        case Method::get_table:
        case Method::get_trace_table:
        case Method::get_multi:
        case Method::del:
            return true;
        default:
            return false;
    }
}

/// The entry of the own P_Key table that lets an answer through to who asked with `p_key`.
std::uint16_t own_p_key(const PortFacts& facts, std::uint16_t p_key) noexcept {
    for (const auto entry : facts.p_keys)
        if (is_same_partition(entry, p_key)) return entry;
    return p_key;
}

sa::McRecord group_record(const Gid& mgid, const Partition& like) {
    return sa::McRecord{}
        .set(M::mgid, mgid)
        .set(M::q_key, like.q_key)
        .set(M::mtu, like.mtu)
        .set(M::traffic_class, like.traffic_class)
        .set(M::p_key, like.p_key)
        .set(M::rate, like.rate)
        .set(M::lifetime, like.lifetime)
        .set(M::sl, like.sl)
        .set(M::flow_label, like.flow_label)
        .set(M::hop_limit, like.hop_limit)
        .set(M::scope, mgid_of(mgid)[Mgid::scope]);
}

}  // namespace

Gid Group::mgid() const { return record[M::mgid]; }
std::uint16_t Group::mlid() const { return record[M::mlid]; }

struct SubnetAdministrator::State {
    State(Hca& h, SubnetView& s, SaConfig c, SaFaults& f)
        : hca(h),
          subnet(s),
          config(c),
          faults(f),
          outbox(h, config, f),
          subscriptions(outbox, h, s, config),
          groups(s, config, subscriptions),
          membership(groups, s, config),
          paths(groups, s, config),
          services(s, config),
          tables(outbox, config) {}

    Hca& hca;
    SubnetView& subnet;
    const SaConfig config;
    SaFaults& faults;
    sa::Outbox outbox;
    sa::Subscriptions subscriptions;
    sa::Groups groups;
    sa::Membership membership;
    sa::Paths paths;
    sa::Services services;
    sa::RmppSender tables;

    void receive(const Packet& packet);
    /// Whether a fault keeps the request from the administrator.
    bool is_lost();
    [[nodiscard]] std::optional<std::uint16_t> refusal(const sa::Request& request);
    /// Nothing for a request that is not answered.
    [[nodiscard]] std::optional<sa::Reply> work_on(const sa::Request& request);
    /// What anybody says of a port is taken for true.
    [[nodiscard]] sa::Reply believe(View<PortInfoRecord> told);
    [[nodiscard]] sa::Reply mc_member(const sa::Request& request);
    [[nodiscard]] sa::Reply service(const sa::Request& request);
    void respond(const sa::Request& request, sa::Reply reply);
};

void SubnetAdministrator::State::receive(const Packet& packet) {
    if (!packet.lrh || !packet.deth || packet.payload.size() < mad_size) return;
    const bool is_by_gid = packet.grh && !config.behaviour.knows_requester_by_lid;
    const auto* from = is_by_gid ? subnet.by_gid(packet.grh[Grh::sgid]) : subnet.by_lid(packet.lrh[Lrh::slid]);
    sa::Request request{packet.payload.first(mad_size), {}, from, false};
    if (!request.port) return;
    const auto facts = hca.facts();
    request.back = MadPath::back(packet, facts.lid);
    request.back.p_key = own_p_key(facts, request.back.p_key);

    // The receiver of a table answers with the request's method or with the answer's.
    const auto rmpp = request.rmpp();
    const bool is_table_control = rmpp[Rmpp::active] && rmpp[Rmpp::type] != RmppType::none;
    if (is_table_control) return tables.take(request);
    if (request.method() == Method::report_resp) return subscriptions.acknowledged(request);
    if (request.method() == Method::report && !config.behaviour.reports_own_notices)
        return subscriptions.pass_on(request.record<Notice>());
    if (!is_request(request.method()) || is_lost()) return;

    const auto key = request.sa()[SaHeader::sm_key];
    if (key != 0 && key != config.sm_key) return;
    request.has_sm_key = key != 0;
    if (const auto status = refusal(request)) return respond(request, sa::Reply::refuse(*status));
    if (auto reply = work_on(request)) respond(request, std::move(*reply));
}

bool SubnetAdministrator::State::is_lost() {
    if (faults.is_silent) return true;
    if (faults.drop_next == 0) return false;
    --faults.drop_next;
    return true;
}

std::optional<std::uint16_t> SubnetAdministrator::State::refusal(const sa::Request& request) {
    if (faults.busy_next != 0) {
        --faults.busy_next;
        return mad_status::busy;
    }
    const auto header = request.header();
    if (header[Mad::base_version] != mad_base_version || header[Mad::class_version] != sa_class_version)
        return mad_status::bad_version;
    if (!is_known(request.method())) return mad_status::unsupported_method;
    const bool is_join = request.attribute() == attribute::mc_member_record && request.method() == Method::set;
    if (!is_join || faults.refuse_joins == 0) return std::nullopt;
    if (faults.refuse_only && *faults.refuse_only != request.record<M>()[M::mgid]) return std::nullopt;
    return faults.refuse_joins;
}

sa::Reply SubnetAdministrator::State::believe(View<PortInfoRecord> told) {
    const auto* port = subnet.by_lid(told[PortInfoRecord::endport_lid]);
    if (port && port_info(told)[PortInfo::port_state] == PortState::down) groups.prune(port->gid);
    Bytes<PortInfoRecord> record;
    std::copy_n(told.data(), PortInfoRecord::size, record.octets.begin());
    return sa::Reply::of(record);
}

std::optional<sa::Reply> SubnetAdministrator::State::work_on(const sa::Request& request) {
    const auto method = request.method();
    const bool is_query = method == Method::get || method == Method::get_table;
    const auto unsupported = sa::Reply::refuse(mad_status::unsupported_method_attribute);
    switch (request.attribute()) {
        case attribute::mc_member_record:
            return mc_member(request);
        case attribute::service_record:
            return service(request);
        case attribute::path_record:
            return is_query ? paths.query(request) : unsupported;
        case attribute::class_port_info:
            return method == Method::get ? sa::class_port_info(config) : unsupported;
        case attribute::inform_info:
            return method == Method::set ? subscriptions.set(request) : unsupported;
        default:
            break;
    }
    const auto query = sa::record_query(request.attribute());
    if (!query) return std::nullopt;
    if (request.attribute() == attribute::port_info_record && method == Method::set && config.behaviour.takes_port_info)
        return believe(request.record<PortInfoRecord>());
    return is_query ? query(request, subnet, config) : unsupported;
}

sa::Reply SubnetAdministrator::State::mc_member(const sa::Request& request) {
    switch (request.method()) {
        case Method::set:
            return membership.join(request);
        case Method::del:
            return membership.leave(request);
        case Method::get:
        case Method::get_table:
            return membership.query(request);
        default:
            return sa::Reply::refuse(mad_status::unsupported_method_attribute);
    }
}

sa::Reply SubnetAdministrator::State::service(const sa::Request& request) {
    const auto now = hca.loop().now();
    switch (request.method()) {
        case Method::set:
            return services.set(request, now);
        case Method::del:
            return services.remove(request, now);
        case Method::get:
        case Method::get_table:
            return services.query(request, now);
        default:
            return sa::Reply::refuse(mad_status::unsupported_method_attribute);
    }
}

void SubnetAdministrator::State::respond(const sa::Request& request, sa::Reply reply) {
    const bool is_ok = reply.status() == mad_status::ok;
    if (request.method() == Method::get && is_ok && reply.count() != 1) {
        const auto status = reply.count() == 0 ? sa_status::no_records : sa_status::too_many_records;
        reply = sa::Reply::refuse(status);
    }
    const auto mad = sa::answer(request, reply);
    if (request.method() != Method::get_table || !is_ok) return outbox.post(request.back, mad);
    const auto stride = reply.stride();
    auto records = reply.take_data();
    const auto of_one_mad = stride ? SaHeader::data_size / stride * stride : 0;
    if (!config.behaviour.sends_whole_tables && records.size() > of_one_mad) records.resize(of_one_mad);
    if (!tables.send(request.back, mad, std::move(records)))
        outbox.post(request.back, sa::answer(request, sa::Reply::refuse(mad_status::busy)));
}

SubnetAdministrator::SubnetAdministrator(Hca& hca, SubnetView& subnet, SaConfig config)
    : state_(std::make_unique<State>(hca, subnet, config, faults)) {
    hca.on_mad(MgmtClass::subn_adm, [state = state_.get()](const Datagram& d) { state->receive(*d.packet); });
}

SubnetAdministrator::~SubnetAdministrator() { state_->hca.on_mad(MgmtClass::subn_adm, nullptr); }

void SubnetAdministrator::create_broadcast_group(const Partition& partition) {
    state_->paths.set_sl(partition.p_key, partition.sl);
    if (!partition.has_broadcast_group || state_->groups.find(partition.broadcast_gid())) return;
    auto record = group_record(partition.broadcast_gid(), partition).set(M::scope, partition.scope);
    if (const auto change = state_->config.behaviour.changes_broadcast_group) change(record);
    state_->groups.create(record, true);
}

std::optional<std::uint16_t> SubnetAdministrator::create_group(const Gid& mgid, const Partition& like) {
    if (const auto* known = state_->groups.find(mgid)) return known->mlid();
    auto* group = state_->groups.create(group_record(mgid, like), true);
    if (!group) return std::nullopt;
    state_->groups.announce(*group);
    return group->mlid();
}

void SubnetAdministrator::set_route(const Gid& gid, std::uint16_t lid, std::optional<std::uint8_t> sl) {
    state_->paths.set_route(gid, lid, sl);
}

void SubnetAdministrator::delete_group(const Gid& mgid) {
    if (auto* group = state_->groups.find(mgid)) state_->groups.remove(*group);
}

void SubnetAdministrator::port_vanished(const Gid& port_gid) {
    if (!state_->config.behaviour.prunes) return;
    state_->groups.prune(port_gid);
    if (state_->groups.lapses(SaLapse::vanished_port_subscribes)) return;
    state_->subscriptions.remove_all_of(port_gid);
}

void SubnetAdministrator::forget_all() {
    auto& s = *state_;
    if (s.config.behaviour.keeps_database) return;
    if (!s.groups.lapses(SaLapse::restart_keeps_subscriptions)) s.subscriptions.clear();
    s.groups.clear();
    s.services.clear();
    s.paths.clear();
    s.tables.clear();
    s.outbox.clear();
}

const Group* SubnetAdministrator::find(const Gid& mgid) const { return state_->groups.find(mgid); }

std::vector<const Group*> SubnetAdministrator::groups() const {
    std::vector<const Group*> all;
    all.reserve(state_->groups.all().size());
    for (const auto& [mgid, group] : state_->groups.all()) all.push_back(&group);
    return all;
}

std::size_t SubnetAdministrator::subscriptions() const noexcept { return state_->subscriptions.size(); }
std::size_t SubnetAdministrator::subscriptions_of(const Gid& port_gid) const {
    return state_->subscriptions.size_of(port_gid);
}

}  // namespace ipoib::fabric
