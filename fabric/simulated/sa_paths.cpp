// SPDX-License-Identifier: GPL-2.0-or-later
// Paths. The subnet has one LID for each port, so there is one path between two ports.
#include "fabric/simulated/sa_paths.hpp"

#include "fabric/simulated/sa_parameters.hpp"
#include "protocol/wire/mgid.hpp"

namespace ipoib::fabric::sa {
using namespace wire;
using P = PathRecord;
using PC = P::component;

namespace {

constexpr std::uint16_t base_of(std::uint16_t p_key) noexcept {
    return p_key & static_cast<std::uint16_t>(~full_membership);
}

std::optional<std::uint8_t> lifetime(const Request& request, bool is_loopback) {
    const std::uint8_t usual = is_loopback ? std::uint8_t{0} : usual_lifetime;
    if (!request.gives(PC::lifetime | PC::lifetime_selector)) return usual;
    const auto asked = request.record<P>()[P::lifetime];
    switch (request.record<P>()[P::lifetime_selector]) {
        case selector::greater:
            return usual > asked ? std::optional{usual} : std::nullopt;
        case selector::less:
            if (usual < asked) return usual;
            return asked > 1 ? std::optional{static_cast<std::uint8_t>(asked - 1)} : std::nullopt;
        case selector::exactly:
            return usual >= asked ? std::optional{asked} : std::nullopt;
        default:
            return usual;
    }
}

/// The partition of a path: the one asked for if both ends can communicate in it, else the first that they share.
std::optional<std::uint16_t> partition(const Request& request, const KnownPort& from, const KnownPort& to,
                                       const SaBehaviour& behaviour) {
    const auto asked = request.record<P>()[P::p_key];
    if (!request.gives(PC::p_key)) return shared_p_key(from, to);
    const bool are_members = has_p_key(from, asked) && has_p_key(to, asked);
    const bool may_talk = behaviour.parts_limited_members ? share_p_key(from, to, asked) : are_members;
    return may_talk ? std::optional{asked} : std::nullopt;
}

bool has_known_codes(const Request& request) {
    const auto asked = request.record<P>();
    if (request.gives(PC::mtu | PC::mtu_selector) && mtu_quantity.rank(asked[P::mtu]) == 0) return false;
    return !request.gives(PC::rate | PC::rate_selector) || rate_quantity.rank(asked[P::rate]) != 0;
}

}  // namespace

void Paths::set_sl(std::uint16_t p_key, std::uint8_t sl) { sl_of_partition_[base_of(p_key)] = sl; }

void Paths::set_route(const Gid& gid, std::uint16_t lid, std::optional<std::uint8_t> sl) {
    if (lid == 0)
        routes_.erase(gid);
    else
        routes_.insert_or_assign(gid, Route{lid, sl});
}

const HeldGroup* Paths::broadcast_group(std::uint16_t p_key) const {
    for (const auto& [mgid, group] : groups_.all())
        if (is_broadcast_gid(mgid) && is_same_partition(group.record[McMemberRecord::p_key], p_key)) return &group;
    return nullptr;
}

std::uint8_t Paths::sl(std::uint16_t p_key) const {
    if (const auto at = sl_of_partition_.find(base_of(p_key)); at != sl_of_partition_.end()) return at->second;
    const auto* group = broadcast_group(p_key);
    return group ? group->record[McMemberRecord::sl] : std::uint8_t{0};
}

Paths::End Paths::end(const Request& request, bool is_source) const {
    const auto asked = request.record<P>();
    const bool has_gid = request.gives(is_source ? PC::sgid : PC::dgid);
    const bool has_lid = request.gives(is_source ? PC::slid : PC::dlid);
    const auto lid = asked[is_source ? P::slid : P::dlid];
    if (!has_gid && !has_lid) return {};
    if (const auto route = routes_.find(asked[P::dgid]); !is_source && has_gid && route != routes_.end()) {
        const auto* router = subnet_.by_lid(route->second.lid);
        return {router ? mad_status::ok : sa_status::no_records, router};
    }
    const auto* port = has_gid ? find_port(subnet_, asked[is_source ? P::sgid : P::dgid], request.port->gid.prefix())
                               : subnet_.by_lid(lid);
    if (!port) return {sa_status::no_records, nullptr};
    if (has_lid && port->lid != lid) return {sa_status::invalid_request, nullptr};
    return {mad_status::ok, port};
}

/// TClass and FlowLabel are those of the link, as are those of its groups, unless others are asked for.
void Paths::lead_through(const Routes::value_type& route, const Request& request, Bytes<P>& path) const {
    constexpr std::uint8_t through_routers = 64;
    path.set(P::dgid, route.first);
    if (route.second.sl && !request.gives(PC::sl)) path.set(P::sl, *route.second.sl);
    if (route.first.prefix() == request.port->gid.prefix()) return;
    path.set(P::hop_limit, through_routers);
    const auto asked = request.record<P>();
    const auto* group = broadcast_group(path[P::p_key]);
    const auto tell = [&](std::uint64_t component, const auto& field, const auto& of_group) {
        if (request.gives(component))
            path.set(field, asked[field]);
        else if (group)
            path.set(field, group->record[of_group]);
    };
    tell(PC::traffic_class, P::traffic_class, McMemberRecord::traffic_class);
    tell(PC::flow_label, P::flow_label, McMemberRecord::flow_label);
}

bool Paths::add(const Request& request, const KnownPort& from, const KnownPort& to, const Routes::value_type* routed,
                Reply& reply) const {
    const auto& asker = *request.port;
    if (!is_told_of(asker, from) || !is_told_of(asker, to)) return true;
    const auto asked = request.record<P>();
    const auto chosen = [&](const Quantity& quantity, std::uint64_t components, const auto& selector_field,
                            const auto& field, std::uint8_t capable) -> std::optional<std::uint8_t> {
        if (!request.gives(components)) return capable;
        return choose_for_path(quantity, asked[selector_field], asked[field], capable);
    };
    const auto mtu = chosen(mtu_quantity, PC::mtu | PC::mtu_selector, P::mtu_selector, P::mtu,
                            lesser(mtu_quantity, from.mtu, to.mtu));
    const auto rate = chosen(rate_quantity, PC::rate | PC::rate_selector, P::rate_selector, P::rate,
                             lesser(rate_quantity, from.rate, to.rate));
    const auto time = lifetime(request, from.gid == to.gid);
    const auto p_key = partition(request, from, to, config_.behaviour);
    if (!mtu || !rate || !time || !p_key) return true;
    auto path = Bytes<P>{}
                    .set(P::dgid, to.gid)
                    .set(P::sgid, from.gid)
                    .set(P::dlid, to.lid)
                    .set(P::slid, from.lid)
                    .set(P::reversible, true)
                    .set(P::p_key, *p_key)
                    .set(P::sl, request.gives(PC::sl) ? asked[P::sl] : sl(*p_key))
                    .set(P::mtu_selector, selector::exactly)
                    .set(P::mtu, *mtu)
                    .set(P::rate_selector, selector::exactly)
                    .set(P::rate, *rate)
                    .set(P::lifetime_selector, selector::exactly)
                    .set(P::lifetime, *time);
    if (routed) lead_through(*routed, request, path);
    return reply.add(path);
}

bool Paths::is_member(const HeldGroup& group, const KnownPort* port) const {
    return port && group.members.contains(port->gid);
}

/// The path of a group's packets. IBTA Vol 1, 15.2.5.16.
Reply Paths::to_group(const Request& request) const {
    using M = McMemberRecord;
    const auto asked = request.record<P>();
    const auto* group = groups_.find(asked[P::dgid]);
    if (!group) return {};
    const auto& record = group->record;
    const auto differs = [&](std::uint64_t component, const auto& field, const auto& of_group) {
        return request.gives(component) && asked[field] != record[of_group];
    };
    if (differs(PC::dlid, P::dlid, M::mlid) || differs(PC::p_key, P::p_key, M::p_key) ||
        differs(PC::sl, P::sl, M::sl) || differs(PC::flow_label, P::flow_label, M::flow_label) ||
        differs(PC::hop_limit, P::hop_limit, M::hop_limit) ||
        differs(PC::traffic_class, P::traffic_class, M::traffic_class))
        return {};
    const auto prefix = request.port->gid.prefix();
    if (request.gives(PC::sgid) && !is_member(*group, find_port(subnet_, asked[P::sgid], prefix))) return {};
    if (request.gives(PC::slid) && !is_member(*group, subnet_.by_lid(asked[P::slid]))) return {};
    Bytes<P> path;
    std::copy_n(asked.data(), P::size, path.octets.begin());
    return Reply::of(path.set(P::dlid, record[M::mlid])
                         .set(P::raw_traffic, false)
                         .set(P::reserved3, 0)
                         .set(P::flow_label, record[M::flow_label])
                         .set(P::hop_limit, record[M::hop_limit])
                         .set(P::traffic_class, record[M::traffic_class])
                         .set(P::reversible, false)
                         .set(P::number_of_paths, 1)
                         .set(P::p_key, record[M::p_key])
                         .set(P::qos_class, 0)
                         .set(P::sl, record[M::sl])
                         .set(P::mtu_selector, selector::exactly)
                         .set(P::mtu, record[M::mtu])
                         .set(P::rate_selector, selector::exactly)
                         .set(P::rate, record[M::rate])
                         .set(P::lifetime_selector, selector::exactly)
                         .set(P::lifetime, record[M::lifetime]));
}

Reply Paths::query(const Request& request) const {
    if (!has_known_codes(request)) return Reply::refuse(sa_status::invalid_request);
    const bool gives_half_of_service_id = request.gives(1) != request.gives(2);
    if (gives_half_of_service_id) return Reply::refuse(sa_status::insufficient_components);
    if (request.gives(PC::dgid) && request.record<P>()[P::dgid].is_multicast()) return to_group(request);

    const auto source = end(request, true), destination = end(request, false);
    for (const auto& end : {source, destination}) {
        if (end.status == sa_status::no_records) return {};
        if (end.status != mad_status::ok) return Reply::refuse(end.status);
    }
    Reply reply;
    const bool is_get = request.method() == Method::get;
    // A Get asks for one path.
    if (!is_get && request.gives(PC::number_of_paths) && request.record<P>()[P::number_of_paths] == 0) return reply;
    const auto visit = [&](const KnownPort* fixed, const auto& each) {
        if (fixed) return each(*fixed);
        for (const auto& port : subnet_.ports())
            if (!each(port)) return false;
        return true;
    };
    if (!config_.behaviour.knows_paths) return reply;
    const auto from_each_source = [&](const KnownPort& to, const Routes::value_type* routed) {
        return visit(source.port, [&](const KnownPort& from) {
            return add(request, from, to, routed, reply) && !(is_get && reply.count() != 0);
        });
    };
    const auto route = request.gives(PC::dgid) ? routes_.find(request.record<P>()[P::dgid]) : routes_.end();
    const auto* routed = route != routes_.end() ? &*route : nullptr;
    visit(destination.port, [&](const KnownPort& to) { return from_each_source(to, routed); });
    // Who asks for every path is told of those through routers, and to further GIDs of a port, too.
    if (destination.port || is_get) return reply;
    for (const auto& one : routes_)
        if (const auto* router = subnet_.by_lid(one.second.lid); router && !from_each_source(*router, &one)) break;
    return reply;
}

}  // namespace ipoib::fabric::sa
