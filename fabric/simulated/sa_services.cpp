// SPDX-License-Identifier: GPL-2.0-or-later
// The register of services.
#include "fabric/simulated/sa_services.hpp"

#include <algorithm>

namespace ipoib::fabric::sa {
using namespace wire;
using S = ServiceRecord;
using SC = S::component;

namespace {

/// What makes a service another one. IBTA Vol 1, 15.2.5.14.
constexpr std::array<std::pair<std::uint64_t, const FieldSpec*>, 3> key_of_service{
    {{SC::service_id, &S::service_id}, {SC::service_gid, &S::service_gid}, {SC::service_p_key, &S::service_p_key}}};

bool has_same_identity(Octets one, Octets other, std::uint64_t components) {
    return std::all_of(key_of_service.begin(), key_of_service.end(), [&](const auto& row) {
        return (components & row.first) == 0 || is_same(*row.second, one, other);
    });
}

/// Whether the elements of a data row that are given are the same: one bit of the mask for each, from `first` on.
bool has_same_elements(const Request& request, const FieldSpec& row, unsigned first, unsigned width, Octets known) {
    for (unsigned i = 0; i < row.width / width; ++i) {
        FieldSpec element = row;
        element.at.bit = static_cast<std::uint16_t>(row.at.bit + i * width);
        element.width = static_cast<std::uint16_t>(width);
        if (request.gives(std::uint64_t{1} << (first + i)) && !is_same(element, request.record<S>().octets(), known))
            return false;
    }
    return true;
}

bool matches(const Request& request, Octets known) {
    const auto asked = request.record<S>().octets();
    if (!has_same_identity(asked, known, request.mask())) return false;
    if (request.gives(SC::service_key) && !is_same(S::service_key, asked, known)) return false;
    if (request.gives(SC::service_name) && !is_same(S::service_name, asked, known)) return false;
    return has_same_elements(request, S::data8, 7, 8, known) && has_same_elements(request, S::data16, 23, 16, known) &&
           has_same_elements(request, S::data32, 31, 32, known) && has_same_elements(request, S::data64, 35, 64, known);
}

}  // namespace

void Services::expire(Time now) {
    std::erase_if(services_, [&](const Service& service) { return service.end && *service.end <= now; });
}

/// The partition of a service must be the requester's and that of the port which offers it.
bool Services::is_allowed(const Request& request) const {
    if (!request.gives(SC::service_p_key)) return true;
    const auto record = request.record<S>();
    const auto p_key = record[S::service_p_key];
    if (!has_p_key(*request.port, p_key)) return false;
    if (!request.gives(SC::service_gid)) return true;
    const auto* port = find_port(subnet_, record[S::service_gid], request.port->gid.prefix());
    return port && has_p_key(*port, p_key);
}

Services::Record Services::shown(const Request& request, const Service& service) const {
    auto record = service.record;
    // The key is for those who are trusted.
    if (!request.has_sm_key) record.set(S::service_key, {});
    return record;
}

Reply Services::set(const Request& request, Time now) {
    expire(now);
    if (!is_allowed(request) || !request.gives(SC::service_id | SC::service_gid))
        return Reply::refuse(sa_status::invalid_request);
    Service service;
    std::copy_n(request.record<S>().data(), S::size, service.record.octets.begin());
    if (!request.gives(SC::service_lease)) service.record.set(S::service_lease, S::endless);
    if (const auto lease = service.record[S::service_lease]; lease != S::endless)
        service.end = now + std::chrono::seconds{lease};
    const auto known = std::find_if(services_.begin(), services_.end(), [&](const Service& other) {
        return has_same_identity(service.record.octets, other.record.octets, ~std::uint64_t{0});
    });
    if (known != services_.end()) {
        *known = service;
    } else if (services_.size() < config_.most_services) {
        services_.push_back(service);
    } else {
        return Reply::refuse(sa_status::no_resources);
    }
    return Reply::of(shown(request, service));
}

Reply Services::remove(const Request& request, Time now) {
    expire(now);
    if (!is_allowed(request)) return Reply::refuse(sa_status::invalid_request);
    const auto known = std::find_if(services_.begin(), services_.end(), [&](const Service& service) {
        return has_same_identity(request.record<S>().octets(), service.record.octets, request.mask());
    });
    if (!request.gives(SC::service_id) || known == services_.end()) return Reply::refuse(sa_status::no_records);
    auto reply = Reply::of(shown(request, *known));
    services_.erase(known);
    return reply;
}

Reply Services::query(const Request& request, Time now) {
    expire(now);
    Reply reply;
    if (!is_allowed(request)) return Reply::refuse(sa_status::invalid_request);
    for (const auto& service : services_) {
        const auto p_key = service.record[S::service_p_key];
        const bool is_open = (p_key & static_cast<std::uint16_t>(~full_membership)) == 0;
        if (matches(request, service.record.octets) && (is_open || has_p_key(*request.port, p_key)) &&
            !reply.add(shown(request, service)))
            break;
    }
    return reply;
}

}  // namespace ipoib::fabric::sa
