// SPDX-License-Identifier: GPL-2.0-or-later
// Services that ports offer. IBTA Vol 1, 15.2.5.14.
#pragma once

#include "fabric/simulated/sa_exchange.hpp"
#include "protocol/wire/service_record.hpp"

namespace ipoib::fabric::sa {

class Services {
public:
    Services(const SubnetView& subnet, const SaConfig& config) : subnet_(subnet), config_(config) {}

    /// Set(ServiceRecord): registers a service, or registers it anew.
    [[nodiscard]] Reply set(const Request& request, Time now);
    /// Delete(ServiceRecord).
    [[nodiscard]] Reply remove(const Request& request, Time now);
    /// Get and GetTable.
    [[nodiscard]] Reply query(const Request& request, Time now);
    void clear() { services_.clear(); }

private:
    using Record = wire::Bytes<wire::ServiceRecord>;
    struct Service {
        Record record;
        std::optional<Time> end;  ///< of its lease
    };
    void expire(Time now);
    [[nodiscard]] bool is_allowed(const Request& request) const;
    [[nodiscard]] Record shown(const Request& request, const Service& service) const;

    const SubnetView& subnet_;
    const SaConfig& config_;
    std::vector<Service> services_;
};

}  // namespace ipoib::fabric::sa
